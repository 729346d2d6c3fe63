-- orders: invoices, number 72
SELECT a.order_id, a.items, b.items AS backorders_items
FROM invoices AS a
JOIN backorders AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.country = 'BE' AND a.items > 71;
