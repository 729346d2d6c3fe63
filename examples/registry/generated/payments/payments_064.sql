-- payments: settlements, number 16
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS disputes_amount_cents
FROM settlements AS a
JOIN disputes AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 900
  AND a.method = 'paypal' AND a.amount_cents > 704367;
