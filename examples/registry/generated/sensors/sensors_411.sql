-- sensors: door_opens, number 102
SELECT a.device_id, b.site, c.reading
FROM door_opens AS a
JOIN pressures AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN flow_rates AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;
