-- orders: carts_abandoned, number 47
SELECT DISTINCT b.country, b.priority
FROM carts_abandoned AS a
JOIN orders_cancelled AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;
