-- sensors: maintenances, number 49
SELECT a.device_id, b.note
FROM maintenances AS a
JOIN calibrations AS b ON a.device_id = b.device_id
WHERE a.ts > b.ts;
