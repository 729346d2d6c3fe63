-- orders: deliveries, number 88
SELECT a.order_id, a.items, b.items AS backorders_items
FROM deliveries AS a
JOIN backorders AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.country = 'IT' AND a.items > 51;
