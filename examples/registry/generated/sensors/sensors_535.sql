-- sensors: calibrations, number 133
SELECT device_id, site
FROM calibrations
WHERE site <> 'celle'
UNION ALL
SELECT device_id, site
FROM vibrations
WHERE reading BETWEEN 474 AND 948;
