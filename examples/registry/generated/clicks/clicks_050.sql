-- clicks: app_crashes, number 12
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM app_crashes AS a, searches AS b, ad_impressions AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;
