-- orders: orders_cancelled, number 135
SELECT DISTINCT b.country, b.priority
FROM orders_cancelled AS a
JOIN orders_placed AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;
