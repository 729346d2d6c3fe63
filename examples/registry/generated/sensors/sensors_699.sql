-- sensors: calibrations, number 174
SELECT a.device_id, b.site, c.reading
FROM calibrations AS a
JOIN battery_levels AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 300 AND a.ts
JOIN vibrations AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 300 AND a.ts;
