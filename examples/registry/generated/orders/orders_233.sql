-- orders: carts_abandoned, number 58
SELECT a.order_id, b.country
FROM carts_abandoned AS a, stock_moves AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 2;
