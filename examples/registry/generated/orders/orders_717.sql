-- orders: stock_moves, number 179
SELECT order_id, items, note
FROM stock_moves
WHERE items >= 230 AND country IN ('BE', 'AT');
