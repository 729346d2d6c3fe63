-- orders: price_changes, number 145
SELECT DISTINCT k.order_id, b.priority
FROM price_changes AS a
JOIN orders_placed AS b ON a.order_id = b.order_id
JOIN watched_orders AS k ON k.order_id = a.order_id
WHERE a.ts > b.ts AND b.items >= 200;
