-- orders: replacements, number 125
SELECT order_id, country
FROM replacements
WHERE country <> 'DK'
UNION ALL
SELECT order_id, country
FROM dunning_letters
WHERE items BETWEEN 157 AND 314;
