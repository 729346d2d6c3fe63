-- payments: fee_charges, number 75
SELECT merchant_id, amount_cents, note
FROM fee_charges
WHERE amount_cents >= 2036452 AND method IN ('card', 'sepa');
