-- orders: carts_abandoned, number 111
SELECT DISTINCT b.country, b.priority
FROM carts_abandoned AS a
JOIN price_changes AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;
