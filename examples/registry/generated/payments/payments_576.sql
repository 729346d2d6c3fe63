-- payments: settlements, number 144
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS card_blocks_amount_cents
FROM settlements AS a
JOIN card_blocks AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.method = 'paypal' AND a.amount_cents > 915329;
