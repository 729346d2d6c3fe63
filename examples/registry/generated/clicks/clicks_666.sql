-- clicks: logins, number 166
SELECT a.visitor_id, b.device, c.score
FROM logins AS a
JOIN app_installs AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN video_starts AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
