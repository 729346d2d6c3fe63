-- sensors: door_opens, number 10
SELECT a.device_id, b.site
FROM door_opens AS a, power_draws AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 1;
