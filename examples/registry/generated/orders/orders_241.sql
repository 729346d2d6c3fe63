-- orders: returns, number 60
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM returns AS a, orders_cancelled AS b, pick_starts AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
