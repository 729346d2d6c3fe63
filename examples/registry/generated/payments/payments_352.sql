-- payments: payouts, number 88
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS reversals_amount_cents
FROM payouts AS a
JOIN reversals AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.method = 'giro' AND a.amount_cents > 2287484;
