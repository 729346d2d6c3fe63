-- sensors: maintenances, number 21
SELECT device_id, site
FROM maintenances
WHERE site <> 'aachen'
UNION ALL
SELECT device_id, site
FROM pressures
WHERE reading BETWEEN 1207 AND 2414;
