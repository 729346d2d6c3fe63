-- payments: fee_charges, number 123
SELECT merchant_id, amount_cents, note
FROM fee_charges
WHERE amount_cents >= 2150899 AND method IN ('giro', 'card');
