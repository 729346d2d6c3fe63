-- orders: stock_moves, number 191
SELECT DISTINCT b.country, b.priority
FROM stock_moves AS a
JOIN invoices AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;
