-- payments: mandates, number 151
SELECT DISTINCT b.method, b.priority
FROM mandates AS a
JOIN fee_charges AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
