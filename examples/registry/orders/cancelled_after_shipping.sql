-- An order cancelled within two hours after it was shipped.
SELECT c.order_id, s.warehouse
FROM orders_cancelled AS c
JOIN shipments AS s ON s.order_id = c.order_id
WHERE c.ts BETWEEN s.ts AND s.ts + 7200;
