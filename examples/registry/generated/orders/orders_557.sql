-- orders: promotions, number 139
SELECT order_id, items, note
FROM promotions
WHERE items >= 226 AND country IN ('AT', 'BE');
