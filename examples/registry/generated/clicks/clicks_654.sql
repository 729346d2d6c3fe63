-- clicks: video_starts, number 163
SELECT visitor_id, score, note
FROM video_starts
WHERE score >= 419 AND device IN ('desktop', 'app');
