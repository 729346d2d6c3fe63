-- orders: orders_placed, number 107
SELECT order_id, items, note
FROM orders_placed
WHERE items >= 239 AND country IN ('PL', 'DK');
