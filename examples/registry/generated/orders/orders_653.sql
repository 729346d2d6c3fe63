-- orders: stock_moves, number 163
SELECT order_id, items, note
FROM stock_moves
WHERE items >= 205 AND country IN ('DK', 'PL');
