-- sensors: humidities, number 139
SELECT device_id, reading, note
FROM humidities
WHERE reading >= 812 AND site IN ('celle', 'aachen');
