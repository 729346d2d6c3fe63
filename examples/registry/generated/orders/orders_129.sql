-- orders: pick_starts, number 32
SELECT a.order_id, a.items, b.items AS price_changes_items
FROM pick_starts AS a
JOIN price_changes AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.country = 'IT' AND a.items > 214;
