-- payments: fraud_scores, number 138
SELECT a.merchant_id, b.method
FROM fraud_scores AS a, chargebacks AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 3;
