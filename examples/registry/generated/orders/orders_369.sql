-- orders: pick_starts, number 92
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM pick_starts AS a, promotions AS b, invoices AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;
