-- clicks: cart_removes, number 25
SELECT DISTINCT k.visitor_id, b.priority
FROM cart_removes AS a
JOIN page_views AS b ON a.visitor_id = b.visitor_id
JOIN test_visitors AS k ON k.visitor_id = a.visitor_id
WHERE a.ts > b.ts AND b.score >= 342;
