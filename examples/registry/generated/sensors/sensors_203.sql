-- sensors: firmware_updates, number 50
SELECT a.device_id, b.site
FROM firmware_updates AS a, calibrations AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 1;
