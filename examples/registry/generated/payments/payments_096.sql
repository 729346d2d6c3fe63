-- payments: card_reissues, number 24
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS captures_amount_cents
FROM card_reissues AS a
JOIN captures AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 900
  AND a.method = 'giro' AND a.amount_cents > 889340;
