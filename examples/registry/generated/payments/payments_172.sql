-- payments: authorizations, number 43
SELECT merchant_id, amount_cents, note
FROM authorizations
WHERE amount_cents >= 1531145 AND method IN ('sepa', 'card');
