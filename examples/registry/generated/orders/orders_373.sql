-- orders: carts_abandoned, number 93
SELECT order_id, country
FROM carts_abandoned
WHERE country <> 'AT'
UNION ALL
SELECT order_id, country
FROM orders_placed
WHERE items BETWEEN 228 AND 456;
