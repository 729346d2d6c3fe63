-- payments: wallet_topups, number 115
SELECT merchant_id, amount_cents, note
FROM wallet_topups
WHERE amount_cents >= 812441 AND method IN ('sepa', 'card');
