-- clicks: ad_clicks, number 196
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM ad_clicks AS a, cart_adds AS b, video_starts AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;
