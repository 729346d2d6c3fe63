-- sensors: vibrations, number 95
SELECT DISTINCT b.site, b.priority
FROM vibrations AS a
JOIN alarms AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;
