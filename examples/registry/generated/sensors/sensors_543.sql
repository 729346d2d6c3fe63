-- sensors: temperatures, number 135
SELECT DISTINCT b.site, b.priority
FROM temperatures AS a
JOIN battery_levels AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;
