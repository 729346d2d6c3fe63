-- sensors: battery_levels, number 107
SELECT device_id, reading, note
FROM battery_levels
WHERE reading >= 1721 AND site IN ('celle', 'dresden');
