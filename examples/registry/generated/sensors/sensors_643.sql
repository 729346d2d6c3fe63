-- sensors: maintenances, number 160
SELECT a.device_id, a.reading, b.reading AS humidities_reading
FROM maintenances AS a
JOIN humidities AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 900
  AND a.site = 'essen' AND a.reading > 1178;
