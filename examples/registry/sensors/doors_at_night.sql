-- Doors that open and close within five seconds.
SELECT o.device_id, o.site
FROM door_opens AS o
JOIN door_closes AS c ON c.device_id = o.device_id
WHERE c.ts BETWEEN o.ts AND o.ts + 5;
