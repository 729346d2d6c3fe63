-- sensors: power_draws, number 59
SELECT device_id, reading, note
FROM power_draws
WHERE reading >= 419 AND site IN ('aachen', 'dresden');
