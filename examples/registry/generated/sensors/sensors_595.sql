-- sensors: firmware_updates, number 148
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM firmware_updates AS a, temperatures AS b, calibrations AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;
