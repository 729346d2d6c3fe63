-- clicks: app_installs, number 64
SELECT a.visitor_id, a.score, b.score AS logouts_score
FROM app_installs AS a
JOIN logouts AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.device = 'desktop' AND a.score > 269;
