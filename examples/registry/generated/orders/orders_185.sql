-- orders: backorders, number 46
SELECT a.order_id, b.country, c.items
FROM backorders AS a
JOIN invoices AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN promotions AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;
