-- orders: backorders, number 45
SELECT order_id, country
FROM backorders
WHERE country <> 'DE'
UNION ALL
SELECT order_id, country
FROM pick_starts
WHERE items BETWEEN 165 AND 330;
