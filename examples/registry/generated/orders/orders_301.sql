-- orders: backorders, number 75
SELECT order_id, items, note
FROM backorders
WHERE items >= 240 AND country IN ('DE', 'PL');
