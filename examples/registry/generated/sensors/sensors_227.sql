-- sensors: door_opens, number 56
SELECT a.device_id, a.reading, b.reading AS humidities_reading
FROM door_opens AS a
JOIN humidities AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 1800
  AND a.site = 'dresden' AND a.reading > 881;
