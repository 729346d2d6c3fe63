-- clicks: video_stops, number 144
SELECT a.visitor_id, a.score, b.score AS consent_changes_score
FROM video_stops AS a
JOIN consent_changes AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.device = 'mobile' AND a.score > 239;
