-- clicks: video_starts, number 2
SELECT a.visitor_id, b.device
FROM video_starts AS a, sign_ups AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 3;
