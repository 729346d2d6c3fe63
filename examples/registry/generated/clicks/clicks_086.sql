-- clicks: cart_removes, number 21
SELECT visitor_id, device
FROM cart_removes
WHERE device <> 'desktop'
UNION ALL
SELECT visitor_id, device
FROM cart_adds
WHERE score BETWEEN 311 AND 622;
