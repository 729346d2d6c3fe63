-- sensors: door_closes, number 151
SELECT DISTINCT b.site, b.priority
FROM door_closes AS a
JOIN vibrations AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;
