-- orders: returns, number 170
SELECT a.order_id, b.country
FROM returns AS a, price_changes AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 1;
