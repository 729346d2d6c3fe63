-- clicks: cart_removes, number 30
SELECT a.visitor_id, b.device, c.score
FROM cart_removes AS a
JOIN app_crashes AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 300 AND a.ts
JOIN logouts AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 300 AND a.ts;
