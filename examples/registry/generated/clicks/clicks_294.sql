-- clicks: ad_clicks, number 73
SELECT DISTINCT k.visitor_id, b.priority
FROM ad_clicks AS a
JOIN cart_adds AS b ON a.visitor_id = b.visitor_id
JOIN test_visitors AS k ON k.visitor_id = a.visitor_id
WHERE a.ts > b.ts AND b.score >= 405;
