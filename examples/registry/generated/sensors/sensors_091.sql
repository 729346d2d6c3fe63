-- sensors: temperatures, number 22
SELECT a.device_id, b.site, c.reading
FROM temperatures AS a
JOIN battery_levels AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN heartbeats AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;
