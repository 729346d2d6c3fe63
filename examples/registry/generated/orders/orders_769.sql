-- orders: returns, number 192
SELECT a.order_id, a.items, b.items AS pick_ends_items
FROM returns AS a
JOIN pick_ends AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.country = 'FR' AND a.items > 52;
