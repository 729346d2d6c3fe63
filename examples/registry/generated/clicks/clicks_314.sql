-- clicks: app_crashes, number 78
SELECT a.visitor_id, b.device, c.score
FROM app_crashes AS a
JOIN ad_clicks AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN video_starts AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
