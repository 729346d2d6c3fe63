-- clicks: logins, number 40
SELECT a.visitor_id, a.score, b.score AS video_starts_score
FROM logins AS a
JOIN video_starts AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.device = 'app' AND a.score > 161;
