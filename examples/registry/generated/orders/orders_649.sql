-- orders: stock_moves, number 162
SELECT a.order_id, b.country
FROM stock_moves AS a, carts_abandoned AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 1;
