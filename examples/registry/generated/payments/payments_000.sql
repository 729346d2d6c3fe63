-- payments: card_reissues, number 0
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS wallet_debits_amount_cents
FROM card_reissues AS a
JOIN wallet_debits AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.method = 'card' AND a.amount_cents > 2279010;
