-- payments: wallet_debits, number 139
SELECT merchant_id, amount_cents, note
FROM wallet_debits
WHERE amount_cents >= 1340138 AND method IN ('giro', 'sepa');
