-- sensors: flow_rates, number 94
SELECT a.device_id, b.site, c.reading
FROM flow_rates AS a
JOIN calibrations AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 300 AND a.ts
JOIN power_draws AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 300 AND a.ts;
