-- orders: backorders, number 117
SELECT order_id, country
FROM backorders
WHERE country <> 'CH'
UNION ALL
SELECT order_id, country
FROM price_changes
WHERE items BETWEEN 53 AND 106;
