-- clicks: page_views, number 92
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM page_views AS a, app_crashes AS b, video_starts AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;
