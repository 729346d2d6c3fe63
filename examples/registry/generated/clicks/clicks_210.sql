-- clicks: cart_adds, number 52
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM cart_adds AS a, newsletter_opens AS b, searches AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;
