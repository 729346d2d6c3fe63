-- payments: authorizations, number 168
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS chargebacks_amount_cents
FROM authorizations AS a
JOIN chargebacks AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.method = 'giro' AND a.amount_cents > 1658648;
