-- sensors: acknowledgements, number 109
SELECT device_id, site
FROM acknowledgements
WHERE site <> 'dresden'
UNION ALL
SELECT device_id, site
FROM alarms
WHERE reading BETWEEN 1994 AND 3988;
