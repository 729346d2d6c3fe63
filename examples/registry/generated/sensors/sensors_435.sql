-- sensors: vibrations, number 108
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM vibrations AS a, door_closes AS b, pressures AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;
