-- sensors: alarms, number 170
SELECT a.device_id, b.site
FROM alarms AS a, heartbeats AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 1;
