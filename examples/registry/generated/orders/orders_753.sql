-- orders: replacements, number 188
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM replacements AS a, backorders AS b, returns AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
