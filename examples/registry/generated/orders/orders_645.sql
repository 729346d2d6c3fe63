-- orders: returns, number 161
SELECT DISTINCT k.order_id, b.priority
FROM returns AS a
JOIN deliveries AS b ON a.order_id = b.order_id
JOIN watched_orders AS k ON k.order_id = a.order_id
WHERE a.ts > b.ts AND b.items >= 179;
