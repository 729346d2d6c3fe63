-- orders: returns, number 20
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM returns AS a, pick_ends AS b, carts_abandoned AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
