-- clicks: video_stops, number 195
SELECT visitor_id, score, note
FROM video_stops
WHERE score >= 142 AND device IN ('app', 'desktop');
