-- clicks: cart_removes, number 184
SELECT a.visitor_id, a.score, b.score AS ad_clicks_score
FROM cart_removes AS a
JOIN ad_clicks AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 1800
  AND a.device = 'app' AND a.score > 368;
