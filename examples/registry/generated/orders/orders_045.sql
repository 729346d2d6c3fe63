-- orders: pick_starts, number 11
SELECT order_id, items, note
FROM pick_starts
WHERE items >= 216 AND country IN ('DE', 'CH');
