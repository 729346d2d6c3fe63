-- sensors: humidities, number 116
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM humidities AS a, maintenances AS b, flow_rates AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;
