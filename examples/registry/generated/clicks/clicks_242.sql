-- clicks: cart_removes, number 60
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM cart_removes AS a, page_views AS b, logins AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;
