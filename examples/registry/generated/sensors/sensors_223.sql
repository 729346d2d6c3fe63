-- sensors: acknowledgements, number 55
SELECT DISTINCT b.site, b.priority
FROM acknowledgements AS a
JOIN power_draws AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;
