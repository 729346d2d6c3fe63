-- clicks: page_views, number 4
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM page_views AS a, ad_impressions AS b, ad_clicks AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;
