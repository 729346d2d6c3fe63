-- sensors: firmware_updates, number 171
SELECT device_id, reading, note
FROM firmware_updates
WHERE reading >= 1426 AND site IN ('essen', 'bremen');
