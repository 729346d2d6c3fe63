-- payments: chargebacks, number 40
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS mandates_amount_cents
FROM chargebacks AS a
JOIN mandates AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.method = 'giro' AND a.amount_cents > 2190481;
