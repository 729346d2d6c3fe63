-- orders: invoices, number 53
SELECT order_id, country
FROM invoices
WHERE country <> 'IT'
UNION ALL
SELECT order_id, country
FROM carts_abandoned
WHERE items BETWEEN 132 AND 264;
