-- sensors: battery_levels, number 156
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM battery_levels AS a, pressures AS b, temperatures AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;
