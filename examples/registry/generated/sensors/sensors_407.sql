-- sensors: vibrations, number 101
SELECT device_id, site
FROM vibrations
WHERE site <> 'aachen'
UNION ALL
SELECT device_id, site
FROM temperatures
WHERE reading BETWEEN 694 AND 1388;
