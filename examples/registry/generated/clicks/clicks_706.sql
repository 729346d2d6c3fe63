-- clicks: video_starts, number 176
SELECT a.visitor_id, a.score, b.score AS sign_ups_score
FROM video_starts AS a
JOIN sign_ups AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.device = 'desktop' AND a.score > 461;
