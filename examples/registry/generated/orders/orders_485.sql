-- orders: pick_starts, number 121
SELECT DISTINCT k.order_id, b.priority
FROM pick_starts AS a
JOIN dunning_letters AS b ON a.order_id = b.order_id
JOIN watched_orders AS k ON k.order_id = a.order_id
WHERE a.ts > b.ts AND b.items >= 140;
