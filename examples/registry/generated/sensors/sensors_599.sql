-- sensors: door_closes, number 149
SELECT a.device_id, b.note
FROM door_closes AS a
JOIN temperatures AS b ON a.device_id = b.device_id
WHERE a.ts > b.ts;
