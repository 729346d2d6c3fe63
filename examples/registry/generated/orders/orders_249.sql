-- orders: pick_starts, number 62
SELECT a.order_id, b.country, c.items
FROM pick_starts AS a
JOIN price_changes AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN backorders AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
