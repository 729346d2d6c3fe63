-- clicks: video_starts, number 154
SELECT a.visitor_id, b.device
FROM video_starts AS a, cart_removes AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 2;
