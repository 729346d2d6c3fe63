-- clicks: searches, number 142
SELECT a.visitor_id, b.device, c.score
FROM searches AS a
JOIN cart_removes AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 300 AND a.ts
JOIN video_starts AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 300 AND a.ts;
