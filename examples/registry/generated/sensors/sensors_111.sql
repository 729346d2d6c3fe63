-- sensors: flow_rates, number 27
SELECT device_id, reading, note
FROM flow_rates
WHERE reading >= 438 AND site IN ('dresden', 'celle');
