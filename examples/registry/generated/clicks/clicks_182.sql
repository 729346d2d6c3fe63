-- clicks: video_stops, number 45
SELECT visitor_id, device
FROM video_stops
WHERE device <> 'app'
UNION ALL
SELECT visitor_id, device
FROM page_views
WHERE score BETWEEN 395 AND 790;
