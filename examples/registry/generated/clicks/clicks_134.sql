-- clicks: sign_ups, number 33
SELECT DISTINCT k.visitor_id, b.priority
FROM sign_ups AS a
JOIN searches AS b ON a.visitor_id = b.visitor_id
JOIN test_visitors AS k ON k.visitor_id = a.visitor_id
WHERE a.ts > b.ts AND b.score >= 251;
