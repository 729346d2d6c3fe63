-- Placed, invoiced and shipped within an hour.
SELECT s.order_id, s.country
FROM orders_placed AS o
JOIN invoices AS i ON i.order_id = o.order_id AND i.ts BETWEEN o.ts AND o.ts + 3600
JOIN shipments AS s ON s.order_id = o.order_id AND s.ts BETWEEN o.ts AND o.ts + 3600;
