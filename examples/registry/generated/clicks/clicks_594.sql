-- clicks: ad_clicks, number 148
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM ad_clicks AS a, app_installs AS b, logouts AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;
