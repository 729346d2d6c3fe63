-- orders: dunning_letters, number 181
SELECT order_id, country
FROM dunning_letters
WHERE country <> 'NL'
UNION ALL
SELECT order_id, country
FROM promotions
WHERE items BETWEEN 66 AND 132;
