-- sensors: vibrations, number 29
SELECT device_id, site
FROM vibrations
WHERE site <> 'dresden'
UNION ALL
SELECT device_id, site
FROM maintenances
WHERE reading BETWEEN 402 AND 804;
