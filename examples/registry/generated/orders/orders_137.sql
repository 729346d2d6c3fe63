-- orders: shipments, number 34
SELECT a.order_id, b.country
FROM shipments AS a, pick_ends AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 2;
