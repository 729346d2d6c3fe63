-- orders: price_changes, number 37
SELECT order_id, country
FROM price_changes
WHERE country <> 'AT'
UNION ALL
SELECT order_id, country
FROM promotions
WHERE items BETWEEN 196 AND 392;
