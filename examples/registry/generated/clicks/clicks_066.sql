-- clicks: searches, number 16
SELECT a.visitor_id, a.score, b.score AS video_stops_score
FROM searches AS a
JOIN video_stops AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.device = 'app' AND a.score > 425;
