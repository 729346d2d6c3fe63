-- sensors: door_opens, number 13
SELECT device_id, site
FROM door_opens
WHERE site <> 'bremen'
UNION ALL
SELECT device_id, site
FROM pressures
WHERE reading BETWEEN 1135 AND 2270;
