-- sensors: battery_levels, number 7
SELECT DISTINCT b.site, b.priority
FROM battery_levels AS a
JOIN power_draws AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;
