-- payments: captures, number 8
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS payouts_amount_cents
FROM captures AS a
JOIN payouts AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.method = 'paypal' AND a.amount_cents > 2266146;
