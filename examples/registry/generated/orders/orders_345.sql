-- orders: orders_cancelled, number 86
SELECT a.order_id, b.country, c.items
FROM orders_cancelled AS a
JOIN returns AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN deliveries AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
