-- sensors: heartbeats, number 80
SELECT a.device_id, a.reading, b.reading AS flow_rates_reading
FROM heartbeats AS a
JOIN flow_rates AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.site = 'essen' AND a.reading > 1418;
