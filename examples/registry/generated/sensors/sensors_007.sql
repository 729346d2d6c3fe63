-- sensors: door_opens, number 1
SELECT DISTINCT k.device_id, b.priority
FROM door_opens AS a
JOIN pressures AS b ON a.device_id = b.device_id
JOIN critical_devices AS k ON k.device_id = a.device_id
WHERE a.ts > b.ts AND b.reading >= 508;
