-- orders: invoices, number 15
SELECT DISTINCT b.country, b.priority
FROM invoices AS a
JOIN backorders AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;
