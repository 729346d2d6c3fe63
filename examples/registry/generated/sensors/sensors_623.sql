-- sensors: acknowledgements, number 155
SELECT device_id, reading, note
FROM acknowledgements
WHERE reading >= 407 AND site IN ('aachen', 'essen');
