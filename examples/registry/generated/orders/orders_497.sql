-- orders: orders_placed, number 124
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM orders_placed AS a, price_changes AS b, replacements AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
