-- sensors: heartbeats, number 117
SELECT device_id, site
FROM heartbeats
WHERE site <> 'essen'
UNION ALL
SELECT device_id, site
FROM power_draws
WHERE reading BETWEEN 592 AND 1184;
