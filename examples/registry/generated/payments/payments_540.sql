-- payments: fee_charges, number 135
SELECT DISTINCT b.method, b.priority
FROM fee_charges AS a
JOIN fraud_scores AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
