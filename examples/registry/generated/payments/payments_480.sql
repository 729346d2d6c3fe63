-- payments: reversals, number 120
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS chargebacks_amount_cents
FROM reversals AS a
JOIN chargebacks AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 1800
  AND a.method = 'card' AND a.amount_cents > 2492376;
