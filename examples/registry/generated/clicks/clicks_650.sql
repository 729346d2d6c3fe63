-- clicks: cart_adds, number 162
SELECT a.visitor_id, b.device
FROM cart_adds AS a, logins AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 1;
