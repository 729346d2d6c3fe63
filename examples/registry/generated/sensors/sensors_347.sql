-- sensors: temperatures, number 86
SELECT a.device_id, b.site, c.reading
FROM temperatures AS a
JOIN door_closes AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN power_draws AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
