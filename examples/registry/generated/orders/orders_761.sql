-- orders: pick_ends, number 190
SELECT a.order_id, b.country, c.items
FROM pick_ends AS a
JOIN orders_cancelled AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN carts_abandoned AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
