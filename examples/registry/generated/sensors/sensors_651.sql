-- sensors: humidities, number 162
SELECT a.device_id, b.site
FROM humidities AS a, battery_levels AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 1;
