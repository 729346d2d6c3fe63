-- sensors: acknowledgements, number 64
SELECT a.device_id, a.reading, b.reading AS power_draws_reading
FROM acknowledgements AS a
JOIN power_draws AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.site = 'bremen' AND a.reading > 784;
