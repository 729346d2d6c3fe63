-- orders: pick_ends, number 189
SELECT order_id, country
FROM pick_ends
WHERE country <> 'CH'
UNION ALL
SELECT order_id, country
FROM orders_placed
WHERE items BETWEEN 235 AND 470;
