-- clicks: logins, number 109
SELECT visitor_id, device
FROM logins
WHERE device <> 'mobile'
UNION ALL
SELECT visitor_id, device
FROM cart_removes
WHERE score BETWEEN 411 AND 822;
