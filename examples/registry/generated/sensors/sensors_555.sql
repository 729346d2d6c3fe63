-- sensors: temperatures, number 138
SELECT a.device_id, b.site
FROM temperatures AS a, flow_rates AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 3;
