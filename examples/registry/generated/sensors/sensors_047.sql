-- sensors: door_opens, number 11
SELECT device_id, reading, note
FROM door_opens
WHERE reading >= 974 AND site IN ('bremen', 'celle');
