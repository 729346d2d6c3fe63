-- sensors: door_opens, number 154
SELECT a.device_id, b.site
FROM door_opens AS a, maintenances AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 3;
