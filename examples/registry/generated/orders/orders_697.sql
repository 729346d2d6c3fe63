-- orders: invoices, number 174
SELECT a.order_id, b.country, c.items
FROM invoices AS a
JOIN dunning_letters AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN stock_moves AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
