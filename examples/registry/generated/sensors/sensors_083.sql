-- sensors: door_closes, number 20
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM door_closes AS a, pressures AS b, calibrations AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;
