-- clicks: sign_ups, number 6
SELECT a.visitor_id, b.device, c.score
FROM sign_ups AS a
JOIN app_crashes AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 60 AND a.ts
JOIN page_views AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 60 AND a.ts;
