-- sensors: heartbeats, number 147
SELECT device_id, reading, note
FROM heartbeats
WHERE reading >= 1847 AND site IN ('bremen', 'essen');
