-- orders: stock_moves, number 130
SELECT a.order_id, b.country
FROM stock_moves AS a, returns AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 2;
