-- orders: orders_cancelled, number 144
SELECT a.order_id, a.items, b.items AS pick_ends_items
FROM orders_cancelled AS a
JOIN pick_ends AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.country = 'CH' AND a.items > 241;
