-- sensors: heartbeats, number 173
SELECT device_id, site
FROM heartbeats
WHERE site <> 'aachen'
UNION ALL
SELECT device_id, site
FROM vibrations
WHERE reading BETWEEN 961 AND 1922;
