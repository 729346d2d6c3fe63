-- orders: carts_abandoned, number 13
SELECT order_id, country
FROM carts_abandoned
WHERE country <> 'DK'
UNION ALL
SELECT order_id, country
FROM invoices
WHERE items BETWEEN 126 AND 252;
