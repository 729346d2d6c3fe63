-- orders: deliveries, number 178
SELECT a.order_id, b.country
FROM deliveries AS a, invoices AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 2;
