-- clicks: app_crashes, number 114
SELECT a.visitor_id, b.device
FROM app_crashes AS a, video_stops AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 1;
