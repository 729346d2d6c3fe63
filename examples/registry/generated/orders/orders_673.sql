-- orders: price_changes, number 168
SELECT a.order_id, a.items, b.items AS dunning_letters_items
FROM price_changes AS a
JOIN dunning_letters AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.country = 'PL' AND a.items > 77;
