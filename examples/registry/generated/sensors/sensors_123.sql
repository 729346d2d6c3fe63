-- sensors: battery_levels, number 30
SELECT a.device_id, b.site, c.reading
FROM battery_levels AS a
JOIN power_draws AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 60 AND a.ts
JOIN calibrations AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 60 AND a.ts;
