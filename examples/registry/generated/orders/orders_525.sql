-- orders: orders_cancelled, number 131
SELECT order_id, items, note
FROM orders_cancelled
WHERE items >= 65 AND country IN ('FR', 'ES');
