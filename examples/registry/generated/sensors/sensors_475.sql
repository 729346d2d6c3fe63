-- sensors: temperatures, number 118
SELECT a.device_id, b.site, c.reading
FROM temperatures AS a
JOIN calibrations AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN vibrations AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
