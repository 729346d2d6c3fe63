-- sensors: door_closes, number 165
SELECT device_id, site
FROM door_closes
WHERE site <> 'aachen'
UNION ALL
SELECT device_id, site
FROM power_draws
WHERE reading BETWEEN 609 AND 1218;
