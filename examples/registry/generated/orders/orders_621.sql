-- orders: carts_abandoned, number 155
SELECT order_id, items, note
FROM carts_abandoned
WHERE items >= 162 AND country IN ('IT', 'AT');
