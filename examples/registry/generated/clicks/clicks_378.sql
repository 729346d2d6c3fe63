-- clicks: ad_impressions, number 94
SELECT a.visitor_id, b.device, c.score
FROM ad_impressions AS a
JOIN searches AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN logins AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
