-- payments: card_blocks, number 64
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS card_reissues_amount_cents
FROM card_blocks AS a
JOIN card_reissues AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.method = 'sepa' AND a.amount_cents > 1087507;
