-- payments: fee_charges, number 175
SELECT DISTINCT b.method, b.priority
FROM fee_charges AS a
JOIN chargebacks AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
