-- orders: dunning_letters, number 5
SELECT order_id, country
FROM dunning_letters
WHERE country <> 'ES'
UNION ALL
SELECT order_id, country
FROM replacements
WHERE items BETWEEN 222 AND 444;
