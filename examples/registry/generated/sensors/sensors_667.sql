-- sensors: heartbeats, number 166
SELECT a.device_id, b.site, c.reading
FROM heartbeats AS a
JOIN power_draws AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN maintenances AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
