-- Alarms of critical devices that were acknowledged at a lower priority.
SELECT DISTINCT k.device_id, a.priority
FROM acknowledgements AS q
JOIN alarms AS a ON a.device_id = q.device_id
JOIN critical_devices AS k ON k.device_id = a.device_id
WHERE q.ts > a.ts AND q.priority < a.priority;
