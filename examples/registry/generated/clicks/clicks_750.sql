-- clicks: video_starts, number 187
SELECT visitor_id, score, note
FROM video_starts
WHERE score >= 296 AND device IN ('desktop', 'mobile');
