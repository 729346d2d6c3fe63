-- clicks: ad_clicks, number 183
SELECT DISTINCT b.device, b.priority
FROM ad_clicks AS a
JOIN video_stops AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;
