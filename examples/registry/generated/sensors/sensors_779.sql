-- sensors: power_draws, number 194
SELECT a.device_id, b.site
FROM power_draws AS a, acknowledgements AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 1;
