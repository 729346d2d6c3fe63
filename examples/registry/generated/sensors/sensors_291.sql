-- sensors: flow_rates, number 72
SELECT a.device_id, a.reading, b.reading AS calibrations_reading
FROM flow_rates AS a
JOIN calibrations AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.site = 'celle' AND a.reading > 630;
