-- orders: carts_abandoned, number 187
SELECT order_id, items, note
FROM carts_abandoned
WHERE items >= 88 AND country IN ('DE', 'ES');
