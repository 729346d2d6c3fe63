-- orders: promotions, number 103
SELECT DISTINCT b.country, b.priority
FROM promotions AS a
JOIN price_changes AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;
