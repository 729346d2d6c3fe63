-- orders: returns, number 134
SELECT a.order_id, b.country, c.items
FROM returns AS a
JOIN shipments AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 60 AND a.ts
JOIN deliveries AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 60 AND a.ts;
