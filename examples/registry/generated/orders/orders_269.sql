-- orders: replacements, number 67
SELECT order_id, items, note
FROM replacements
WHERE items >= 161 AND country IN ('FR', 'NL');
