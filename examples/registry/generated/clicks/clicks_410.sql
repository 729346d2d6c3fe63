-- clicks: cart_removes, number 102
SELECT a.visitor_id, b.device, c.score
FROM cart_removes AS a
JOIN ad_clicks AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 60 AND a.ts
JOIN consent_changes AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 60 AND a.ts;
