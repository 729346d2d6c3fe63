-- clicks: page_views, number 17
SELECT DISTINCT k.visitor_id, b.priority
FROM page_views AS a
JOIN sign_ups AS b ON a.visitor_id = b.visitor_id
JOIN test_visitors AS k ON k.visitor_id = a.visitor_id
WHERE a.ts > b.ts AND b.score >= 357;
