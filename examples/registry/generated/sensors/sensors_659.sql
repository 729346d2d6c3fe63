-- sensors: calibrations, number 164
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM calibrations AS a, temperatures AS b, power_draws AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;
