-- orders: pick_starts, number 128
SELECT a.order_id, a.items, b.items AS replacements_items
FROM pick_starts AS a
JOIN replacements AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.country = 'DE' AND a.items > 84;
