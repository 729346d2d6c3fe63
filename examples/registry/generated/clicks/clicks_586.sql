-- clicks: logouts, number 146
SELECT a.visitor_id, b.device
FROM logouts AS a, app_installs AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 3;
