-- sensors: flow_rates, number 198
SELECT a.device_id, b.site, c.reading
FROM flow_rates AS a
JOIN door_closes AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN heartbeats AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
