-- orders: stock_moves, number 36
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM stock_moves AS a, orders_placed AS b, backorders AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
