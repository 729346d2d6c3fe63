-- clicks: cart_adds, number 3
SELECT visitor_id, score, note
FROM cart_adds
WHERE score >= 488 AND device IN ('mobile', 'desktop');
