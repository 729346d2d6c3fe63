-- orders: promotions, number 21
SELECT order_id, country
FROM promotions
WHERE country <> 'BE'
UNION ALL
SELECT order_id, country
FROM orders_placed
WHERE items BETWEEN 139 AND 278;
