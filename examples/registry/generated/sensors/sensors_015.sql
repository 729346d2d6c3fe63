-- sensors: door_closes, number 3
SELECT device_id, reading, note
FROM door_closes
WHERE reading >= 1870 AND site IN ('bremen', 'aachen');
