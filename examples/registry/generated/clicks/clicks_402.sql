-- clicks: video_starts, number 100
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM video_starts AS a, video_stops AS b, searches AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;
