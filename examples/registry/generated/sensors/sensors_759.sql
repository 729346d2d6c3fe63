-- sensors: door_opens, number 189
SELECT device_id, site
FROM door_opens
WHERE site <> 'aachen'
UNION ALL
SELECT device_id, site
FROM door_closes
WHERE reading BETWEEN 1026 AND 2052;
