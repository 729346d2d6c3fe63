-- sensors: alarms, number 99
SELECT a.device_id, b.note
FROM alarms AS a
JOIN firmware_updates AS b ON a.device_id = b.device_id
WHERE a.ts > b.ts;
