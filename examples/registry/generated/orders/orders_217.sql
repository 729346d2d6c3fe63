-- orders: promotions, number 54
SELECT a.order_id, b.country, c.items
FROM promotions AS a
JOIN replacements AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN returns AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
