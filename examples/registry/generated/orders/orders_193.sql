-- orders: dunning_letters, number 48
SELECT a.order_id, a.items, b.items AS promotions_items
FROM dunning_letters AS a
JOIN promotions AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.country = 'ES' AND a.items > 74;
