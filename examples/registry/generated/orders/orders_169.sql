-- orders: backorders, number 42
SELECT a.order_id, b.country
FROM backorders AS a, orders_placed AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 3;
