-- orders: dunning_letters, number 152
SELECT a.order_id, a.items, b.items AS backorders_items
FROM dunning_letters AS a
JOIN backorders AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.country = 'AT' AND a.items > 166;
