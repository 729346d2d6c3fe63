-- clicks: newsletter_opens, number 134
SELECT a.visitor_id, b.device, c.score
FROM newsletter_opens AS a
JOIN logouts AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN sign_ups AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
