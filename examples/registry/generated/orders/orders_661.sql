-- orders: price_changes, number 165
SELECT order_id, country
FROM price_changes
WHERE country <> 'NL'
UNION ALL
SELECT order_id, country
FROM dunning_letters
WHERE items BETWEEN 248 AND 496;
