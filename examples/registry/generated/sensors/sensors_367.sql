-- sensors: heartbeats, number 91
SELECT device_id, reading, note
FROM heartbeats
WHERE reading >= 960 AND site IN ('aachen', 'celle');
