-- clicks: cart_adds, number 87
SELECT DISTINCT b.device, b.priority
FROM cart_adds AS a
JOIN newsletter_opens AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;
