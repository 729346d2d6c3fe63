-- clicks: cart_removes, number 178
SELECT a.visitor_id, b.device
FROM cart_removes AS a, logins AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 3;
