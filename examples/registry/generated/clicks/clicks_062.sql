-- clicks: video_starts, number 15
SELECT DISTINCT b.device, b.priority
FROM video_starts AS a
JOIN searches AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;
