-- clicks: video_starts, number 84
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM video_starts AS a, app_crashes AS b, newsletter_opens AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;
