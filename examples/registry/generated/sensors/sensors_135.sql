-- sensors: flow_rates, number 33
SELECT DISTINCT k.device_id, b.priority
FROM flow_rates AS a
JOIN firmware_updates AS b ON a.device_id = b.device_id
JOIN critical_devices AS k ON k.device_id = a.device_id
WHERE a.ts > b.ts AND b.reading >= 1278;
