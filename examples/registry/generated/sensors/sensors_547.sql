-- sensors: battery_levels, number 136
SELECT a.device_id, a.reading, b.reading AS firmware_updates_reading
FROM battery_levels AS a
JOIN firmware_updates AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.site = 'dresden' AND a.reading > 936;
