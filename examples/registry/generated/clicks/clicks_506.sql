-- clicks: ad_clicks, number 126
SELECT a.visitor_id, b.device, c.score
FROM ad_clicks AS a
JOIN newsletter_opens AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN ad_impressions AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
