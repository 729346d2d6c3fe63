-- orders: returns, number 85
SELECT order_id, country
FROM returns
WHERE country <> 'IT'
UNION ALL
SELECT order_id, country
FROM deliveries
WHERE items BETWEEN 224 AND 448;
