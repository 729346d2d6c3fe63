-- clicks: page_views, number 141
SELECT visitor_id, device
FROM page_views
WHERE device <> 'mobile'
UNION ALL
SELECT visitor_id, device
FROM video_stops
WHERE score BETWEEN 292 AND 584;
