-- sensors: door_opens, number 183
SELECT DISTINCT b.site, b.priority
FROM door_opens AS a
JOIN temperatures AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;
