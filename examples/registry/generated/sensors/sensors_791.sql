-- sensors: firmware_updates, number 197
SELECT device_id, site
FROM firmware_updates
WHERE site <> 'celle'
UNION ALL
SELECT device_id, site
FROM temperatures
WHERE reading BETWEEN 1707 AND 3414;
