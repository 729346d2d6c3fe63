-- clicks: newsletter_opens, number 14
SELECT a.visitor_id, b.device, c.score
FROM newsletter_opens AS a
JOIN cart_removes AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN ad_impressions AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
