-- clicks: video_starts, number 139
SELECT visitor_id, score, note
FROM video_starts
WHERE score >= 249 AND device IN ('desktop', 'app');
