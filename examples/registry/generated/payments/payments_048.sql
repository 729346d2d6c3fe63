-- payments: chargebacks, number 12
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM chargebacks AS a, fraud_scores AS b, fee_charges AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;
