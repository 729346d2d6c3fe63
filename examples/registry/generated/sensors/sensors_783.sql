-- sensors: alarms, number 195
SELECT device_id, reading, note
FROM alarms
WHERE reading >= 1552 AND site IN ('bremen', 'aachen');
