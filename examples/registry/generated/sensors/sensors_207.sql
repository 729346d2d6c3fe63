-- sensors: power_draws, number 51
SELECT device_id, reading, note
FROM power_draws
WHERE reading >= 1429 AND site IN ('bremen', 'celle');
