-- clicks: cart_adds, number 26
SELECT a.visitor_id, b.device
FROM cart_adds AS a, ad_clicks AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 2;
