-- sensors: battery_levels, number 181
SELECT device_id, site
FROM battery_levels
WHERE site <> 'bremen'
UNION ALL
SELECT device_id, site
FROM power_draws
WHERE reading BETWEEN 1301 AND 2602;
