-- orders: invoices, number 108
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM invoices AS a, orders_placed AS b, promotions AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
