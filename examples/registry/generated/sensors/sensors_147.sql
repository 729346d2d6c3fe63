-- sensors: flow_rates, number 36
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM flow_rates AS a, vibrations AS b, firmware_updates AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;
