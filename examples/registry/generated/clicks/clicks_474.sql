-- clicks: cart_removes, number 118
SELECT a.visitor_id, b.device, c.score
FROM cart_removes AS a
JOIN ad_impressions AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 60 AND a.ts
JOIN sign_ups AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 60 AND a.ts;
