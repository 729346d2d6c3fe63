-- clicks: ad_impressions, number 22
SELECT a.visitor_id, b.device, c.score
FROM ad_impressions AS a
JOIN page_views AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN searches AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;
