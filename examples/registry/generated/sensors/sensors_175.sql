-- sensors: alarms, number 43
SELECT device_id, reading, note
FROM alarms
WHERE reading >= 1692 AND site IN ('dresden', 'aachen');
