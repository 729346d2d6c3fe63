-- orders: deliveries, number 84
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM deliveries AS a, price_changes AS b, shipments AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
