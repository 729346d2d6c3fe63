-- orders: carts_abandoned, number 16
SELECT a.order_id, a.items, b.items AS orders_placed_items
FROM carts_abandoned AS a
JOIN orders_placed AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.country = 'NL' AND a.items > 120;
