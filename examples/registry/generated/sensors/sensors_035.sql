-- sensors: door_closes, number 8
SELECT a.device_id, a.reading, b.reading AS pressures_reading
FROM door_closes AS a
JOIN pressures AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 1800
  AND a.site = 'dresden' AND a.reading > 1943;
