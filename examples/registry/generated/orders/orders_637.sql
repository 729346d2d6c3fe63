-- orders: shipments, number 159
SELECT DISTINCT b.country, b.priority
FROM shipments AS a
JOIN returns AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;
