-- sensors: alarms, number 126
SELECT a.device_id, b.site, c.reading
FROM alarms AS a
JOIN battery_levels AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 300 AND a.ts
JOIN power_draws AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 300 AND a.ts;
