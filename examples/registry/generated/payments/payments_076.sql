-- payments: fee_charges, number 19
SELECT merchant_id, amount_cents, note
FROM fee_charges
WHERE amount_cents >= 2386188 AND method IN ('giro', 'paypal');
