-- sensors: battery_levels, number 196
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM battery_levels AS a, temperatures AS b, alarms AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;
