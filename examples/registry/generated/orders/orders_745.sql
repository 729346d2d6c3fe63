-- orders: invoices, number 186
SELECT a.order_id, b.country
FROM invoices AS a, carts_abandoned AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 3;
