-- sensors: acknowledgements, number 58
SELECT a.device_id, b.site
FROM acknowledgements AS a, calibrations AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 3;
