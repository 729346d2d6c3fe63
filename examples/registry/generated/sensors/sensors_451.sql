-- sensors: acknowledgements, number 112
SELECT a.device_id, a.reading, b.reading AS door_closes_reading
FROM acknowledgements AS a
JOIN door_closes AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.site = 'bremen' AND a.reading > 924;
