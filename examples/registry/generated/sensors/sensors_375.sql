-- sensors: acknowledgements, number 93
SELECT device_id, site
FROM acknowledgements
WHERE site <> 'aachen'
UNION ALL
SELECT device_id, site
FROM alarms
WHERE reading BETWEEN 587 AND 1174;
