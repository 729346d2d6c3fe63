-- orders: price_changes, number 7
SELECT DISTINCT b.country, b.priority
FROM price_changes AS a
JOIN carts_abandoned AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;
