-- clicks: video_starts, number 185
SELECT DISTINCT k.visitor_id, b.priority
FROM video_starts AS a
JOIN cart_removes AS b ON a.visitor_id = b.visitor_id
JOIN test_visitors AS k ON k.visitor_id = a.visitor_id
WHERE a.ts > b.ts AND b.score >= 234;
