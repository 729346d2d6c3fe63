-- orders: shipments, number 199
SELECT a.order_id, b.note
FROM shipments AS a
JOIN price_changes AS b ON a.order_id = b.order_id
WHERE a.ts > b.ts;
