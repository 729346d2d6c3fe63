-- orders: orders_placed, number 147
SELECT order_id, items, note
FROM orders_placed
WHERE items >= 164 AND country IN ('CH', 'FR');
