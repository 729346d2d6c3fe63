-- orders: carts_abandoned, number 171
SELECT order_id, items, note
FROM carts_abandoned
WHERE items >= 144 AND country IN ('DK', 'IT');
