-- orders: pick_starts, number 43
SELECT order_id, items, note
FROM pick_starts
WHERE items >= 186 AND country IN ('ES', 'IT');
