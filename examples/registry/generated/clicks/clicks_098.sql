-- clicks: cart_removes, number 24
SELECT a.visitor_id, a.score, b.score AS newsletter_opens_score
FROM cart_removes AS a
JOIN newsletter_opens AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 900
  AND a.device = 'app' AND a.score > 339;
