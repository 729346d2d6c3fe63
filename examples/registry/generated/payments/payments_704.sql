-- payments: wallet_debits, number 176
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS mandates_amount_cents
FROM wallet_debits AS a
JOIN mandates AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.method = 'sepa' AND a.amount_cents > 2237273;
