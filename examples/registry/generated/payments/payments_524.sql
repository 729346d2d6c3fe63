-- payments: wallet_topups, number 131
SELECT merchant_id, amount_cents, note
FROM wallet_topups
WHERE amount_cents >= 2196918 AND method IN ('sepa', 'card');
