-- orders: invoices, number 29
SELECT order_id, country
FROM invoices
WHERE country <> 'BE'
UNION ALL
SELECT order_id, country
FROM promotions
WHERE items BETWEEN 146 AND 292;
