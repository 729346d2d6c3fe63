-- Every alarm with all firmware updates its device ever had.
SELECT a.device_id, f.note
FROM alarms AS a
JOIN firmware_updates AS f ON f.device_id = a.device_id
WHERE a.ts > f.ts;
