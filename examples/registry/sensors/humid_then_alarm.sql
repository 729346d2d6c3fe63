-- An alarm within a minute of a humid reading of its line.
SELECT a.device_id, h.reading
FROM alarms AS a
JOIN humidities AS h ON h.line = a.line AND h.site = a.site
WHERE a.ts > h.ts AND a.ts <= h.ts + 60 AND h.reading > 3500;
