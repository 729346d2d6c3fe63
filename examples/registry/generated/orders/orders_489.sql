-- orders: orders_placed, number 122
SELECT a.order_id, b.country
FROM orders_placed AS a, replacements AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 2;
