-- clicks: page_views, number 106
SELECT a.visitor_id, b.device
FROM page_views AS a, video_stops AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 3;
