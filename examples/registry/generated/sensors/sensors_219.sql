-- sensors: door_opens, number 54
SELECT a.device_id, b.site, c.reading
FROM door_opens AS a
JOIN power_draws AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN pressures AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
