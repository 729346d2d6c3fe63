-- clicks: cart_removes, number 32
SELECT a.visitor_id, a.score, b.score AS page_views_score
FROM cart_removes AS a
JOIN page_views AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 900
  AND a.device = 'mobile' AND a.score > 194;
