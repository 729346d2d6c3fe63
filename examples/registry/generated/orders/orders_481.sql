-- orders: shipments, number 120
SELECT a.order_id, a.items, b.items AS replacements_items
FROM shipments AS a
JOIN replacements AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.country = 'DK' AND a.items > 86;
