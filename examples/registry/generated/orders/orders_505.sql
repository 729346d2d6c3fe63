-- orders: deliveries, number 126
SELECT a.order_id, b.country, c.items
FROM deliveries AS a
JOIN pick_starts AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 60 AND a.ts
JOIN pick_ends AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 60 AND a.ts;
