-- sensors: power_draws, number 134
SELECT a.device_id, b.site, c.reading
FROM power_draws AS a
JOIN temperatures AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 300 AND a.ts
JOIN heartbeats AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 300 AND a.ts;
