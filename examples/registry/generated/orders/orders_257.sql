-- orders: price_changes, number 64
SELECT a.order_id, a.items, b.items AS shipments_items
FROM price_changes AS a
JOIN shipments AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.country = 'FR' AND a.items > 76;
