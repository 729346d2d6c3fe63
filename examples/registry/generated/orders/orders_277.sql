-- orders: shipments, number 69
SELECT order_id, country
FROM shipments
WHERE country <> 'FR'
UNION ALL
SELECT order_id, country
FROM orders_placed
WHERE items BETWEEN 167 AND 334;
