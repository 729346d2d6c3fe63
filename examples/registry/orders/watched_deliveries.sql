-- Deliveries of orders that somebody watches, once each.
SELECT DISTINCT w.order_id, d.country
FROM deliveries AS d
JOIN shipments AS s ON s.order_id = d.order_id
JOIN watched_orders AS w ON w.order_id = d.order_id
WHERE d.ts > s.ts;
