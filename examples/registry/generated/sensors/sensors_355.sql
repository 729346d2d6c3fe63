-- sensors: pressures, number 88
SELECT a.device_id, a.reading, b.reading AS temperatures_reading
FROM pressures AS a
JOIN temperatures AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 900
  AND a.site = 'essen' AND a.reading > 881;
