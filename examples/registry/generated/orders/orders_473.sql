-- orders: deliveries, number 118
SELECT a.order_id, b.country, c.items
FROM deliveries AS a
JOIN carts_abandoned AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN orders_placed AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
