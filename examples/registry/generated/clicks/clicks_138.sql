-- clicks: video_starts, number 34
SELECT a.visitor_id, b.device
FROM video_starts AS a, ad_clicks AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 1;
