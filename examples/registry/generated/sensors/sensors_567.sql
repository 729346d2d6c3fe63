-- sensors: vibrations, number 141
SELECT device_id, site
FROM vibrations
WHERE site <> 'dresden'
UNION ALL
SELECT device_id, site
FROM maintenances
WHERE reading BETWEEN 514 AND 1028;
