-- payments: authorizations, number 11
SELECT merchant_id, amount_cents, note
FROM authorizations
WHERE amount_cents >= 579637 AND method IN ('card', 'giro');
