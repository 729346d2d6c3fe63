-- sensors: battery_levels, number 115
SELECT device_id, reading, note
FROM battery_levels
WHERE reading >= 1296 AND site IN ('dresden', 'essen');
