-- payments: settlements, number 195
SELECT merchant_id, amount_cents, note
FROM settlements
WHERE amount_cents >= 1512161 AND method IN ('sepa', 'giro');
