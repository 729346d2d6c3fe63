-- sensors: heartbeats, number 167
SELECT DISTINCT b.site, b.priority
FROM heartbeats AS a
JOIN firmware_updates AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;
