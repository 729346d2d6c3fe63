-- orders: stock_moves, number 61
SELECT order_id, country
FROM stock_moves
WHERE country <> 'FR'
UNION ALL
SELECT order_id, country
FROM backorders
WHERE items BETWEEN 114 AND 228;
