-- orders: stock_moves, number 141
SELECT order_id, country
FROM stock_moves
WHERE country <> 'PL'
UNION ALL
SELECT order_id, country
FROM dunning_letters
WHERE items BETWEEN 228 AND 456;
