-- orders: pick_starts, number 198
SELECT a.order_id, b.country, c.items
FROM pick_starts AS a
JOIN promotions AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN dunning_letters AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
