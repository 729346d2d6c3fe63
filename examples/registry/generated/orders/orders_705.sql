-- orders: orders_placed, number 176
SELECT a.order_id, a.items, b.items AS replacements_items
FROM orders_placed AS a
JOIN replacements AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 1800
  AND a.country = 'DE' AND a.items > 157;
