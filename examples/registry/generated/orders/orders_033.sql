-- orders: dunning_letters, number 8
SELECT a.order_id, a.items, b.items AS replacements_items
FROM dunning_letters AS a
JOIN replacements AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.country = 'CH' AND a.items > 224;
