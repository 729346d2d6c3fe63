-- payments: fraud_scores, number 149
SELECT a.merchant_id, b.note
FROM fraud_scores AS a
JOIN mandates AS b ON a.merchant_id = b.merchant_id
WHERE a.ts > b.ts;
