-- sensors: vibrations, number 16
SELECT a.device_id, a.reading, b.reading AS humidities_reading
FROM vibrations AS a
JOIN humidities AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.site = 'aachen' AND a.reading > 1353;
