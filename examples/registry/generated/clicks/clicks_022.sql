-- clicks: cart_adds, number 5
SELECT visitor_id, device
FROM cart_adds
WHERE device <> 'desktop'
UNION ALL
SELECT visitor_id, device
FROM newsletter_opens
WHERE score BETWEEN 314 AND 628;
