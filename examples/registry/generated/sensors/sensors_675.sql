-- sensors: firmware_updates, number 168
SELECT a.device_id, a.reading, b.reading AS vibrations_reading
FROM firmware_updates AS a
JOIN vibrations AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.site = 'bremen' AND a.reading > 1939;
