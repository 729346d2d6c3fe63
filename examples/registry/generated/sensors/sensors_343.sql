-- sensors: flow_rates, number 85
SELECT device_id, site
FROM flow_rates
WHERE site <> 'aachen'
UNION ALL
SELECT device_id, site
FROM firmware_updates
WHERE reading BETWEEN 1188 AND 2376;
