-- clicks: logins, number 53
SELECT visitor_id, device
FROM logins
WHERE device <> 'app'
UNION ALL
SELECT visitor_id, device
FROM cart_adds
WHERE score BETWEEN 236 AND 472;
