-- clicks: cart_removes, number 128
SELECT a.visitor_id, a.score, b.score AS app_installs_score
FROM cart_removes AS a
JOIN app_installs AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.device = 'app' AND a.score > 316;
