-- orders: shipments, number 12
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM shipments AS a, price_changes AS b, dunning_letters AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
