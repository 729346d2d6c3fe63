-- orders: stock_moves, number 150
SELECT a.order_id, b.country, c.items
FROM stock_moves AS a
JOIN pick_starts AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN pick_ends AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;
