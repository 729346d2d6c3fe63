-- orders: deliveries, number 158
SELECT a.order_id, b.country, c.items
FROM deliveries AS a
JOIN stock_moves AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN orders_placed AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;
