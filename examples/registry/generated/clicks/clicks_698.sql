-- clicks: newsletter_opens, number 174
SELECT a.visitor_id, b.device, c.score
FROM newsletter_opens AS a
JOIN video_starts AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 300 AND a.ts
JOIN logins AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 300 AND a.ts;
