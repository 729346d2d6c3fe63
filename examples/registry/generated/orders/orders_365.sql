-- orders: backorders, number 91
SELECT order_id, items, note
FROM backorders
WHERE items >= 185 AND country IN ('BE', 'NL');
