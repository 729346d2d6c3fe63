-- sensors: acknowledgements, number 15
SELECT DISTINCT b.site, b.priority
FROM acknowledgements AS a
JOIN calibrations AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;
