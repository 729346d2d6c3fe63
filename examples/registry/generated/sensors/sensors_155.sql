-- sensors: battery_levels, number 38
SELECT a.device_id, b.site, c.reading
FROM battery_levels AS a
JOIN power_draws AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN door_opens AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
