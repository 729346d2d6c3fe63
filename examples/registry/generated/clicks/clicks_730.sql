-- clicks: page_views, number 182
SELECT a.visitor_id, b.device, c.score
FROM page_views AS a
JOIN video_starts AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 60 AND a.ts
JOIN sign_ups AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 60 AND a.ts;
