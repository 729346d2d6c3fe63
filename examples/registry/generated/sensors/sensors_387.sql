-- sensors: door_opens, number 96
SELECT a.device_id, a.reading, b.reading AS flow_rates_reading
FROM door_opens AS a
JOIN flow_rates AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.site = 'celle' AND a.reading > 1706;
