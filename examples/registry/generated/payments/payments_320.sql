-- payments: mandates, number 80
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS refunds_amount_cents
FROM mandates AS a
JOIN refunds AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.method = 'paypal' AND a.amount_cents > 2183948;
