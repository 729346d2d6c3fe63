-- clicks: video_starts, number 42
SELECT a.visitor_id, b.device
FROM video_starts AS a, ad_impressions AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 1;
