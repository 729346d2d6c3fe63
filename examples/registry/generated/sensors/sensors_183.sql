-- sensors: door_opens, number 45
SELECT device_id, site
FROM door_opens
WHERE site <> 'essen'
UNION ALL
SELECT device_id, site
FROM door_closes
WHERE reading BETWEEN 959 AND 1918;
