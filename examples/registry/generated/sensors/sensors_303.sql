-- sensors: battery_levels, number 75
SELECT device_id, reading, note
FROM battery_levels
WHERE reading >= 1992 AND site IN ('dresden', 'essen');
