-- orders: dunning_letters, number 24
SELECT a.order_id, a.items, b.items AS replacements_items
FROM dunning_letters AS a
JOIN replacements AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 1800
  AND a.country = 'IT' AND a.items > 145;
