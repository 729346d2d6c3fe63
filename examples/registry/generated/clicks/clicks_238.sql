-- clicks: video_stops, number 59
SELECT visitor_id, score, note
FROM video_stops
WHERE score >= 137 AND device IN ('app', 'desktop');
