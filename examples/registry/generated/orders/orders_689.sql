-- orders: promotions, number 172
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM promotions AS a, orders_placed AS b, replacements AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
