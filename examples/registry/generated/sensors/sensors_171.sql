-- sensors: door_closes, number 42
SELECT a.device_id, b.site
FROM door_closes AS a, calibrations AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 3;
