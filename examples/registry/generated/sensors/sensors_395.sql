-- sensors: maintenances, number 98
SELECT a.device_id, b.site
FROM maintenances AS a, humidities AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 1;
