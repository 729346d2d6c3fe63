-- orders: shipments, number 146
SELECT a.order_id, b.country
FROM shipments AS a, dunning_letters AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 2;
