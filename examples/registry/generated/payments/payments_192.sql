-- payments: chargebacks, number 48
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS captures_amount_cents
FROM chargebacks AS a
JOIN captures AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 900
  AND a.method = 'sepa' AND a.amount_cents > 2324709;
