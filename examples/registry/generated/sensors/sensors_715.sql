-- sensors: maintenances, number 178
SELECT a.device_id, b.site
FROM maintenances AS a, heartbeats AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 1;
