-- orders: price_changes, number 71
SELECT DISTINCT b.country, b.priority
FROM price_changes AS a
JOIN deliveries AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;
