-- sensors: humidities, number 199
SELECT a.device_id, b.note
FROM humidities AS a
JOIN vibrations AS b ON a.device_id = b.device_id
WHERE a.ts > b.ts;
