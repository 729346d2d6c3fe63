-- orders: dunning_letters, number 160
SELECT a.order_id, a.items, b.items AS replacements_items
FROM dunning_letters AS a
JOIN replacements AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.country = 'CH' AND a.items > 119;
