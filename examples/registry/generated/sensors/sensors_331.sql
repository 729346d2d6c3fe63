-- sensors: calibrations, number 82
SELECT a.device_id, b.site
FROM calibrations AS a, vibrations AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 3;
