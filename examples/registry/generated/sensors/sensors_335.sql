-- sensors: power_draws, number 83
SELECT device_id, reading, note
FROM power_draws
WHERE reading >= 1545 AND site IN ('celle', 'essen');
