-- clicks: cart_removes, number 147
SELECT visitor_id, score, note
FROM cart_removes
WHERE score >= 477 AND device IN ('desktop', 'mobile');
