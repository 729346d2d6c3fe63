-- orders: dunning_letters, number 14
SELECT a.order_id, b.country, c.items
FROM dunning_letters AS a
JOIN pick_starts AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 300 AND a.ts
JOIN returns AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 300 AND a.ts;
