-- orders: pick_starts, number 101
SELECT order_id, country
FROM pick_starts
WHERE country <> 'AT'
UNION ALL
SELECT order_id, country
FROM replacements
WHERE items BETWEEN 131 AND 262;
