-- sensors: humidities, number 184
SELECT a.device_id, a.reading, b.reading AS heartbeats_reading
FROM humidities AS a
JOIN heartbeats AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.site = 'aachen' AND a.reading > 642;
