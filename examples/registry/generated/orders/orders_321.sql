-- orders: deliveries, number 80
SELECT a.order_id, a.items, b.items AS returns_items
FROM deliveries AS a
JOIN returns AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 900
  AND a.country = 'ES' AND a.items > 96;
