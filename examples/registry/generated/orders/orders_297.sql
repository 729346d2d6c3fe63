-- orders: dunning_letters, number 74
SELECT a.order_id, b.country
FROM dunning_letters AS a, stock_moves AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 1;
