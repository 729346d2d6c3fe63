-- payments: chargebacks, number 66
SELECT a.merchant_id, b.method
FROM chargebacks AS a, fraud_scores AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 1;
