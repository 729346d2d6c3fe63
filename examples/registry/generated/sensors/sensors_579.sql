-- sensors: vibrations, number 144
SELECT a.device_id, a.reading, b.reading AS power_draws_reading
FROM vibrations AS a
JOIN power_draws AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.site = 'dresden' AND a.reading > 744;
