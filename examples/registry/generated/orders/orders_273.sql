-- orders: returns, number 68
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM returns AS a, deliveries AS b, dunning_letters AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
