-- orders: returns, number 35
SELECT order_id, items, note
FROM returns
WHERE items >= 78 AND country IN ('IT', 'DK');
