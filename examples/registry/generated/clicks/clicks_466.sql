-- clicks: app_crashes, number 116
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM app_crashes AS a, sign_ups AS b, ad_clicks AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;
