-- sensors: battery_levels, number 79
SELECT DISTINCT b.site, b.priority
FROM battery_levels AS a
JOIN humidities AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;
