-- sensors: pressures, number 67
SELECT device_id, reading, note
FROM pressures
WHERE reading >= 719 AND site IN ('aachen', 'bremen');
