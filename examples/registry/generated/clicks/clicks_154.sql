-- clicks: logouts, number 38
SELECT a.visitor_id, b.device, c.score
FROM logouts AS a
JOIN ad_impressions AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN logins AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;
