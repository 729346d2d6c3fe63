-- clicks: app_crashes, number 194
SELECT a.visitor_id, b.device
FROM app_crashes AS a, logouts AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 2;
