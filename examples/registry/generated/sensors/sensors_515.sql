-- sensors: calibrations, number 128
SELECT a.device_id, a.reading, b.reading AS door_opens_reading
FROM calibrations AS a
JOIN door_opens AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 1800
  AND a.site = 'bremen' AND a.reading > 1378;
