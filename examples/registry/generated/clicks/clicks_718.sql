-- clicks: video_stops, number 179
SELECT visitor_id, score, note
FROM video_stops
WHERE score >= 291 AND device IN ('desktop', 'mobile');
