-- clicks: app_crashes, number 158
SELECT a.visitor_id, b.device, c.score
FROM app_crashes AS a
JOIN cart_adds AS b ON b.visitor_id = a.visitor_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN page_views AS c ON c.visitor_id = a.visitor_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;
