-- orders: dunning_letters, number 112
SELECT a.order_id, a.items, b.items AS returns_items
FROM dunning_letters AS a
JOIN returns AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.country = 'PL' AND a.items > 74;
