-- clicks: video_stops, number 127
SELECT DISTINCT b.device, b.priority
FROM video_stops AS a
JOIN app_installs AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;
