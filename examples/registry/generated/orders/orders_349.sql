-- orders: dunning_letters, number 87
SELECT DISTINCT b.country, b.priority
FROM dunning_letters AS a
JOIN invoices AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;
