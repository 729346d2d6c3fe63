-- sensors: maintenances, number 179
SELECT device_id, reading, note
FROM maintenances
WHERE reading >= 1206 AND site IN ('aachen', 'essen');
