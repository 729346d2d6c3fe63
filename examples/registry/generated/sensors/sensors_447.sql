-- sensors: calibrations, number 111
SELECT DISTINCT b.site, b.priority
FROM calibrations AS a
JOIN battery_levels AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;
