-- sensors: humidities, number 61
SELECT device_id, site
FROM humidities
WHERE site <> 'essen'
UNION ALL
SELECT device_id, site
FROM power_draws
WHERE reading BETWEEN 695 AND 1390;
