-- orders: pick_starts, number 102
SELECT a.order_id, b.country, c.items
FROM pick_starts AS a
JOIN price_changes AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN dunning_letters AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;
