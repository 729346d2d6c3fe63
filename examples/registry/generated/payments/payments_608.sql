-- payments: payouts, number 152
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS fraud_scores_amount_cents
FROM payouts AS a
JOIN fraud_scores AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.method = 'paypal' AND a.amount_cents > 1540329;
