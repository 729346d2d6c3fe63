-- orders: orders_placed, number 23
SELECT DISTINCT b.country, b.priority
FROM orders_placed AS a
JOIN orders_cancelled AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;
