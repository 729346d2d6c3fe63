-- orders: dunning_letters, number 0
SELECT a.order_id, a.items, b.items AS invoices_items
FROM dunning_letters AS a
JOIN invoices AS b ON a.order_id = b.order_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.country = 'PL' AND a.items > 186;
