-- sensors: temperatures, number 63
SELECT DISTINCT b.site, b.priority
FROM temperatures AS a
JOIN heartbeats AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;
