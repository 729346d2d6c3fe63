-- orders: stock_moves, number 50
SELECT a.order_id, b.country
FROM stock_moves AS a, orders_placed AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 1;
