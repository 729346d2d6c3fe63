-- orders: invoices, number 59
SELECT order_id, items, note
FROM invoices
WHERE items >= 145 AND country IN ('IT', 'DK');
