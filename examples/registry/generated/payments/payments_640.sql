-- payments: payouts, number 160
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS fee_charges_amount_cents
FROM payouts AS a
JOIN fee_charges AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 1800
  AND a.method = 'sepa' AND a.amount_cents > 1394385;
