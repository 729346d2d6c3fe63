-- payments: card_reissues, number 136
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS mandates_amount_cents
FROM card_reissues AS a
JOIN mandates AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 900
  AND a.method = 'paypal' AND a.amount_cents > 1880627;
