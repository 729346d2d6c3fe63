-- clicks: app_crashes, number 103
SELECT DISTINCT b.device, b.priority
FROM app_crashes AS a
JOIN ad_clicks AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;
