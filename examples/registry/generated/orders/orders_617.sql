-- orders: shipments, number 154
SELECT a.order_id, b.country
FROM shipments AS a, carts_abandoned AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 2;
