-- orders: backorders, number 173
SELECT order_id, country
FROM backorders
WHERE country <> 'DK'
UNION ALL
SELECT order_id, country
FROM dunning_letters
WHERE items BETWEEN 228 AND 456;
