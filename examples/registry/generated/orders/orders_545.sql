-- orders: pick_ends, number 136
SELECT a.order_id, a.items, b.items AS invoices_items
FROM pick_ends AS a
JOIN invoices AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 1800
  AND a.country = 'DE' AND a.items > 156;
