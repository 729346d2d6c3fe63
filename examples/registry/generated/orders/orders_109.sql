-- orders: returns, number 27
SELECT order_id, items, note
FROM returns
WHERE items >= 107 AND country IN ('IT', 'DE');
