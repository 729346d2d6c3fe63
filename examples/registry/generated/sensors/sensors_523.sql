-- sensors: door_opens, number 130
SELECT a.device_id, b.site
FROM door_opens AS a, door_closes AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 3;
