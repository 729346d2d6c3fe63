-- payments: wallet_topups, number 83
SELECT merchant_id, amount_cents, note
FROM wallet_topups
WHERE amount_cents >= 887051 AND method IN ('giro', 'paypal');
