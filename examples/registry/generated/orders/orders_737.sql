-- orders: orders_cancelled, number 184
SELECT a.order_id, a.items, b.items AS backorders_items
FROM orders_cancelled AS a
JOIN backorders AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.country = 'BE' AND a.items > 139;
