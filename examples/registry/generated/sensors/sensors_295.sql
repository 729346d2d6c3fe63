-- sensors: flow_rates, number 73
SELECT DISTINCT k.device_id, b.priority
FROM flow_rates AS a
JOIN calibrations AS b ON a.device_id = b.device_id
JOIN critical_devices AS k ON k.device_id = a.device_id
WHERE a.ts > b.ts AND b.reading >= 1244;
