-- sensors: acknowledgements, number 44
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM acknowledgements AS a, calibrations AS b, maintenances AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;
