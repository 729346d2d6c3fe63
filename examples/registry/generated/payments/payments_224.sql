-- payments: card_reissues, number 56
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS settlements_amount_cents
FROM card_reissues AS a
JOIN settlements AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.method = 'sepa' AND a.amount_cents > 1823161;
