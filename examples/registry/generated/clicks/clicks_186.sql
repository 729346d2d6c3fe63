-- clicks: searches, number 46
SELECT a.visitor_id, b.device, c.score
FROM searches AS a
JOIN app_installs AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN ad_impressions AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;
