-- clicks: newsletter_opens, number 150
SELECT a.visitor_id, b.device, c.score
FROM newsletter_opens AS a
JOIN searches AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 60 AND a.ts
JOIN video_stops AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 60 AND a.ts;
