-- sensors: power_draws, number 125
SELECT device_id, site
FROM power_draws
WHERE site <> 'essen'
UNION ALL
SELECT device_id, site
FROM acknowledgements
WHERE reading BETWEEN 520 AND 1040;
