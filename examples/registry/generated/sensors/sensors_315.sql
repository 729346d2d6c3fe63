-- sensors: alarms, number 78
SELECT a.device_id, b.site, c.reading
FROM alarms AS a
JOIN flow_rates AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN power_draws AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
