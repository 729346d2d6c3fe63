-- sensors: alarms, number 24
SELECT a.device_id, a.reading, b.reading AS calibrations_reading
FROM alarms AS a
JOIN calibrations AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 1800
  AND a.site = 'bremen' AND a.reading > 1849;
