-- orders: orders_cancelled, number 56
SELECT a.order_id, a.items, b.items AS returns_items
FROM orders_cancelled AS a
JOIN returns AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.country = 'PL' AND a.items > 129;
