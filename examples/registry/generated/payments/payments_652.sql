-- payments: wallet_topups, number 163
SELECT merchant_id, amount_cents, note
FROM wallet_topups
WHERE amount_cents >= 1882219 AND method IN ('card', 'giro');
