-- clicks: video_starts, number 23
SELECT DISTINCT b.device, b.priority
FROM video_starts AS a
JOIN logins AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;
