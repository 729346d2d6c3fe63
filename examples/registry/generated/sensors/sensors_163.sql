-- sensors: maintenances, number 40
SELECT a.device_id, a.reading, b.reading AS humidities_reading
FROM maintenances AS a
JOIN humidities AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.site = 'aachen' AND a.reading > 785;
