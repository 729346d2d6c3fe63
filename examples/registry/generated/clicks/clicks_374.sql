-- clicks: searches, number 93
SELECT visitor_id, device
FROM searches
WHERE device <> 'desktop'
UNION ALL
SELECT visitor_id, device
FROM video_stops
WHERE score BETWEEN 259 AND 518;
