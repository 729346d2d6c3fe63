-- sensors: battery_levels, number 17
SELECT DISTINCT k.device_id, b.priority
FROM battery_levels AS a
JOIN humidities AS b ON a.device_id = b.device_id
JOIN critical_devices AS k ON k.device_id = a.device_id
WHERE a.ts > b.ts AND b.reading >= 1330;
