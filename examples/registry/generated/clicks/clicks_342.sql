-- clicks: searches, number 85
SELECT visitor_id, device
FROM searches
WHERE device <> 'mobile'
UNION ALL
SELECT visitor_id, device
FROM video_stops
WHERE score BETWEEN 275 AND 550;
