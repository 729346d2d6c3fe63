-- orders: shipments, number 70
SELECT a.order_id, b.country, c.items
FROM shipments AS a
JOIN promotions AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 60 AND a.ts
JOIN backorders AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 60 AND a.ts;
