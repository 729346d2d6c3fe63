-- orders: stock_moves, number 116
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM stock_moves AS a, replacements AS b, invoices AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
