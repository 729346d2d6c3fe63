-- orders: returns, number 115
SELECT order_id, items, note
FROM returns
WHERE items >= 229 AND country IN ('PL', 'ES');
