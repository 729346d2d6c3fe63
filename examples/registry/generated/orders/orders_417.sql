-- orders: dunning_letters, number 104
SELECT a.order_id, a.items, b.items AS backorders_items
FROM dunning_letters AS a
JOIN backorders AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 1800
  AND a.country = 'BE' AND a.items > 199;
