-- sensors: pressures, number 71
SELECT DISTINCT b.site, b.priority
FROM pressures AS a
JOIN acknowledgements AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;
