-- payments: reversals, number 112
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS authorizations_amount_cents
FROM reversals AS a
JOIN authorizations AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 1800
  AND a.method = 'paypal' AND a.amount_cents > 2481046;
