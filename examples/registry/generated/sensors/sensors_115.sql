-- sensors: humidities, number 28
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM humidities AS a, heartbeats AS b, temperatures AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;
