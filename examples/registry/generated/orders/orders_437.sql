-- orders: price_changes, number 109
SELECT order_id, country
FROM price_changes
WHERE country <> 'DK'
UNION ALL
SELECT order_id, country
FROM replacements
WHERE items BETWEEN 149 AND 298;
