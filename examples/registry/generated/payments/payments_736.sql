-- payments: settlements, number 184
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS fraud_scores_amount_cents
FROM settlements AS a
JOIN fraud_scores AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.method = 'paypal' AND a.amount_cents > 2123632;
