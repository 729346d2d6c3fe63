-- orders: promotions, number 39
SELECT DISTINCT b.country, b.priority
FROM promotions AS a
JOIN shipments AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;
