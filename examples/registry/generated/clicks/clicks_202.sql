-- clicks: app_installs, number 50
SELECT a.visitor_id, b.device
FROM app_installs AS a, page_views AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 1;
