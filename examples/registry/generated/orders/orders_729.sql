-- orders: pick_ends, number 182
SELECT a.order_id, b.country, c.items
FROM pick_ends AS a
JOIN replacements AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN price_changes AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
