-- orders: orders_placed, number 133
SELECT order_id, country
FROM orders_placed
WHERE country <> 'FR'
UNION ALL
SELECT order_id, country
FROM dunning_letters
WHERE items BETWEEN 166 AND 332;
