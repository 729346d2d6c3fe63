-- orders: orders_cancelled, number 129
SELECT DISTINCT k.order_id, b.priority
FROM orders_cancelled AS a
JOIN dunning_letters AS b ON a.order_id = b.order_id
JOIN watched_orders AS k ON k.order_id = a.order_id
WHERE a.ts > b.ts AND b.items >= 226;
