-- orders: backorders, number 19
SELECT order_id, items, note
FROM backorders
WHERE items >= 136 AND country IN ('ES', 'AT');
