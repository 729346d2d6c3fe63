-- clicks: cart_adds, number 86
SELECT a.visitor_id, b.device, c.score
FROM cart_adds AS a
JOIN ad_impressions AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN searches AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
