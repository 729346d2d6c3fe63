-- clicks: video_stops, number 8
SELECT a.visitor_id, a.score, b.score AS logouts_score
FROM video_stops AS a
JOIN logouts AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.device = 'desktop' AND a.score > 484;
