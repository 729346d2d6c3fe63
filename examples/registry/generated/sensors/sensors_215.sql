-- sensors: calibrations, number 53
SELECT device_id, site
FROM calibrations
WHERE site <> 'essen'
UNION ALL
SELECT device_id, site
FROM maintenances
WHERE reading BETWEEN 828 AND 1656;
