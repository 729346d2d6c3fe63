-- sensors: heartbeats, number 26
SELECT a.device_id, b.site
FROM heartbeats AS a, vibrations AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 2;
