-- sensors: alarms, number 157
SELECT device_id, site
FROM alarms
WHERE site <> 'aachen'
UNION ALL
SELECT device_id, site
FROM maintenances
WHERE reading BETWEEN 699 AND 1398;
