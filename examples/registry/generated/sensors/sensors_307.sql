-- sensors: battery_levels, number 76
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM battery_levels AS a, door_closes AS b, calibrations AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;
