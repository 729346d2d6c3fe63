-- orders: dunning_letters, number 123
SELECT order_id, items, note
FROM dunning_letters
WHERE items >= 152 AND country IN ('FR', 'NL');
