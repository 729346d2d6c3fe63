-- clicks: logins, number 37
SELECT visitor_id, device
FROM logins
WHERE device <> 'app'
UNION ALL
SELECT visitor_id, device
FROM logouts
WHERE score BETWEEN 214 AND 428;
