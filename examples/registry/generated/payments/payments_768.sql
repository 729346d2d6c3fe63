-- payments: captures, number 192
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS chargebacks_amount_cents
FROM captures AS a
JOIN chargebacks AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.method = 'sepa' AND a.amount_cents > 990522;
