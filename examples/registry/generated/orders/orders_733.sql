-- orders: orders_cancelled, number 183
SELECT DISTINCT b.country, b.priority
FROM orders_cancelled AS a
JOIN dunning_letters AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;
