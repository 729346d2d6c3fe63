-- orders: price_changes, number 110
SELECT a.order_id, b.country, c.items
FROM price_changes AS a
JOIN stock_moves AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN pick_starts AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
