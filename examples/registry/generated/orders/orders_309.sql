-- orders: promotions, number 77
SELECT order_id, country
FROM promotions
WHERE country <> 'FR'
UNION ALL
SELECT order_id, country
FROM invoices
WHERE items BETWEEN 147 AND 294;
