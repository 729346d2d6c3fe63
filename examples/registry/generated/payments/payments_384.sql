-- payments: reversals, number 96
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS chargebacks_amount_cents
FROM reversals AS a
JOIN chargebacks AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 900
  AND a.method = 'paypal' AND a.amount_cents > 1225515;
