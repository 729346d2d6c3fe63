-- clicks: ad_clicks, number 10
SELECT a.visitor_id, b.device
FROM ad_clicks AS a, cart_removes AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 3;
