-- orders: orders_cancelled, number 148
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM orders_cancelled AS a, pick_starts AS b, dunning_letters AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
