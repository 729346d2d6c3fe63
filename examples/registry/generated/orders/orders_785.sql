-- orders: returns, number 196
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM returns AS a, carts_abandoned AS b, pick_ends AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
