-- orders: orders_cancelled, number 3
SELECT order_id, items, note
FROM orders_cancelled
WHERE items >= 146 AND country IN ('IT', 'NL');
