-- orders: orders_placed, number 79
SELECT DISTINCT b.country, b.priority
FROM orders_placed AS a
JOIN backorders AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;
