-- sensors: flow_rates, number 191
SELECT DISTINCT b.site, b.priority
FROM flow_rates AS a
JOIN vibrations AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;
