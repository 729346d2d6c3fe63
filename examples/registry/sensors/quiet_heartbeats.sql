-- Heartbeats of a site after an alarm there of the highest priority.
SELECT h.device_id, a.site
FROM heartbeats AS h
JOIN alarms AS a ON a.site = h.site
WHERE h.ts > a.ts AND a.priority = 5;
