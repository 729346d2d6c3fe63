-- sensors: humidities, number 5
SELECT device_id, site
FROM humidities
WHERE site <> 'bremen'
UNION ALL
SELECT device_id, site
FROM heartbeats
WHERE reading BETWEEN 1300 AND 2600;
