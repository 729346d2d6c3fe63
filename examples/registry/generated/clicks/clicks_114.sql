-- clicks: logouts, number 28
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM logouts AS a, page_views AS b, video_starts AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;
