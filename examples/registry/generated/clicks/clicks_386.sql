-- clicks: logouts, number 96
SELECT a.visitor_id, a.score, b.score AS cart_adds_score
FROM logouts AS a
JOIN cart_adds AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.device = 'app' AND a.score > 348;
