-- sensors: door_opens, number 190
SELECT a.device_id, b.site, c.reading
FROM door_opens AS a
JOIN maintenances AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN door_closes AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;
