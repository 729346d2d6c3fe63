-- orders: dunning_letters, number 4
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM dunning_letters AS a, orders_placed AS b, returns AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
