-- clicks: video_stops, number 175
SELECT DISTINCT b.device, b.priority
FROM video_stops AS a
JOIN consent_changes AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;
