-- sensors: door_closes, number 69
SELECT device_id, site
FROM door_closes
WHERE site <> 'dresden'
UNION ALL
SELECT device_id, site
FROM calibrations
WHERE reading BETWEEN 1659 AND 3318;
