-- orders: dunning_letters, number 30
SELECT a.order_id, b.country, c.items
FROM dunning_letters AS a
JOIN orders_cancelled AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN orders_placed AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
