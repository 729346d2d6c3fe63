-- orders: backorders, number 40
SELECT a.order_id, a.items, b.items AS deliveries_items
FROM backorders AS a
JOIN deliveries AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 900
  AND a.country = 'DK' AND a.items > 146;
