-- orders: shipments, number 2
SELECT a.order_id, b.country
FROM shipments AS a, replacements AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 3;
