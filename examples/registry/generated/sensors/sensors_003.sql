-- sensors: heartbeats, number 0
SELECT a.device_id, a.reading, b.reading AS battery_levels_reading
FROM heartbeats AS a
JOIN battery_levels AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.site = 'aachen' AND a.reading > 1552;
