-- sensors: vibrations, number 48
SELECT a.device_id, a.reading, b.reading AS maintenances_reading
FROM vibrations AS a
JOIN maintenances AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 1800
  AND a.site = 'dresden' AND a.reading > 1097;
