-- sensors: vibrations, number 2
SELECT a.device_id, b.site
FROM vibrations AS a, maintenances AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 3;
