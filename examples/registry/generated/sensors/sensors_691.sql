-- sensors: battery_levels, number 172
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM battery_levels AS a, door_opens AS b, acknowledgements AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;
