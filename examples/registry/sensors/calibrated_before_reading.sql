-- Per site and line: a calibration came before the reading.
SELECT f.device_id, f.reading, c.line
FROM flow_rates AS f
JOIN calibrations AS c ON c.site = f.site AND c.line = f.line
WHERE f.ts > c.ts AND c.priority = 5;
