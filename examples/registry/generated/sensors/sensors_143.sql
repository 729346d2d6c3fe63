-- sensors: alarms, number 35
SELECT device_id, reading, note
FROM alarms
WHERE reading >= 892 AND site IN ('dresden', 'bremen');
