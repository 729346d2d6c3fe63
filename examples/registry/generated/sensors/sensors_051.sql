-- sensors: heartbeats, number 12
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM heartbeats AS a, battery_levels AS b, humidities AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;
