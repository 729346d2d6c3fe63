-- orders: backorders, number 83
SELECT order_id, items, note
FROM backorders
WHERE items >= 234 AND country IN ('FR', 'DK');
