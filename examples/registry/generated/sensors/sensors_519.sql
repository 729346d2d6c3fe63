-- sensors: vibrations, number 129
SELECT DISTINCT k.device_id, b.priority
FROM vibrations AS a
JOIN alarms AS b ON a.device_id = b.device_id
JOIN critical_devices AS k ON k.device_id = a.device_id
WHERE a.ts > b.ts AND b.reading >= 632;
