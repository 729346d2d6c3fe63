-- orders: backorders, number 157
SELECT order_id, country
FROM backorders
WHERE country <> 'IT'
UNION ALL
SELECT order_id, country
FROM dunning_letters
WHERE items BETWEEN 144 AND 288;
