-- orders: deliveries, number 195
SELECT order_id, items, note
FROM deliveries
WHERE items >= 189 AND country IN ('IT', 'BE');
