-- sensors: humidities, number 106
SELECT a.device_id, b.site
FROM humidities AS a, maintenances AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 2;
