-- orders: invoices, number 137
SELECT DISTINCT k.order_id, b.priority
FROM invoices AS a
JOIN pick_ends AS b ON a.order_id = b.order_id
JOIN watched_orders AS k ON k.order_id = a.order_id
WHERE a.ts > b.ts AND b.items >= 161;
