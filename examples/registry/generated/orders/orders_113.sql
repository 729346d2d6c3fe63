-- orders: invoices, number 28
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM invoices AS a, deliveries AS b, carts_abandoned AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
