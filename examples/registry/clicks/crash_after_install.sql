-- Crashes on a device type after an install of higher priority there.
SELECT k.visitor_id, i.priority
FROM app_crashes AS k
JOIN app_installs AS i ON i.device = k.device
WHERE k.ts > i.ts AND i.priority > k.priority;
