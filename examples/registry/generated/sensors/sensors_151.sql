-- sensors: battery_levels, number 37
SELECT device_id, site
FROM battery_levels
WHERE site <> 'celle'
UNION ALL
SELECT device_id, site
FROM door_closes
WHERE reading BETWEEN 1172 AND 2344;
