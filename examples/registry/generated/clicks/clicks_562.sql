-- clicks: ad_clicks, number 140
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM ad_clicks AS a, consent_changes AS b, page_views AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;
