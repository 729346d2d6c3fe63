-- payments: mandates, number 27
SELECT merchant_id, amount_cents, note
FROM mandates
WHERE amount_cents >= 669102 AND method IN ('paypal', 'sepa');
