-- sensors: door_closes, number 62
SELECT a.device_id, b.site, c.reading
FROM door_closes AS a
JOIN firmware_updates AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN acknowledgements AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
