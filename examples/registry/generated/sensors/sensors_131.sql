-- sensors: alarms, number 32
SELECT a.device_id, a.reading, b.reading AS pressures_reading
FROM alarms AS a
JOIN pressures AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.site = 'dresden' AND a.reading > 1156;
