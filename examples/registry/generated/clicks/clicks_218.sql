-- clicks: page_views, number 54
SELECT a.visitor_id, b.device, c.score
FROM page_views AS a
JOIN cart_adds AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN newsletter_opens AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
