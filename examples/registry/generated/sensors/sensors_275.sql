-- sensors: vibrations, number 68
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM vibrations AS a, power_draws AS b, door_closes AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;
