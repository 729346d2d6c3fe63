-- payments: authorizations, number 91
SELECT merchant_id, amount_cents, note
FROM authorizations
WHERE amount_cents >= 718166 AND method IN ('giro', 'sepa');
