-- sensors: maintenances, number 187
SELECT device_id, reading, note
FROM maintenances
WHERE reading >= 1644 AND site IN ('aachen', 'bremen');
