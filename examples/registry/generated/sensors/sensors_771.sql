-- sensors: maintenances, number 192
SELECT a.device_id, a.reading, b.reading AS door_opens_reading
FROM maintenances AS a
JOIN door_opens AS b ON a.device_id = b.device_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.site = 'celle' AND a.reading > 710;
