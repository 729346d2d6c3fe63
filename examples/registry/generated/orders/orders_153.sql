-- orders: returns, number 38
SELECT a.order_id, b.country, c.items
FROM returns AS a
JOIN pick_ends AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN stock_moves AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;
