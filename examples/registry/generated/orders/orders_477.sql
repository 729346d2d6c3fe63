-- orders: orders_placed, number 119
SELECT DISTINCT b.country, b.priority
FROM orders_placed AS a
JOIN dunning_letters AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;
