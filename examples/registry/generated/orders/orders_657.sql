-- orders: price_changes, number 164
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM price_changes AS a, replacements AS b, returns AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
