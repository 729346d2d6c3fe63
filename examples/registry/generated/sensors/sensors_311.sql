-- sensors: maintenances, number 77
SELECT device_id, site
FROM maintenances
WHERE site <> 'celle'
UNION ALL
SELECT device_id, site
FROM battery_levels
WHERE reading BETWEEN 1426 AND 2852;
