-- orders: promotions, number 51
SELECT order_id, items, note
FROM promotions
WHERE items >= 116 AND country IN ('CH', 'PL');
