-- sensors: humidities, number 131
SELECT device_id, reading, note
FROM humidities
WHERE reading >= 1970 AND site IN ('bremen', 'celle');
