-- orders: price_changes, number 96
SELECT a.order_id, a.items, b.items AS promotions_items
FROM price_changes AS a
JOIN promotions AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.country = 'BE' AND a.items > 194;
