-- sensors: maintenances, number 175
SELECT DISTINCT b.site, b.priority
FROM maintenances AS a
JOIN pressures AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;
