-- sensors: calibrations, number 132
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM calibrations AS a, flow_rates AS b, door_closes AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;
