-- clicks: cart_removes, number 133
SELECT visitor_id, device
FROM cart_removes
WHERE device <> 'desktop'
UNION ALL
SELECT visitor_id, device
FROM consent_changes
WHERE score BETWEEN 169 AND 338;
