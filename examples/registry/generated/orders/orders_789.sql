-- orders: orders_placed, number 197
SELECT order_id, country
FROM orders_placed
WHERE country <> 'DK'
UNION ALL
SELECT order_id, country
FROM pick_ends
WHERE items BETWEEN 132 AND 264;
