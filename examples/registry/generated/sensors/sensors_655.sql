-- sensors: alarms, number 163
SELECT device_id, reading, note
FROM alarms
WHERE reading >= 1404 AND site IN ('bremen', 'essen');
