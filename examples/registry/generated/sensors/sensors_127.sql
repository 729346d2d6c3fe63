-- sensors: door_closes, number 31
SELECT DISTINCT b.site, b.priority
FROM door_closes AS a
JOIN door_opens AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;
