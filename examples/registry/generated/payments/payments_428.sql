-- payments: fraud_scores, number 107
SELECT merchant_id, amount_cents, note
FROM fraud_scores
WHERE amount_cents >= 2132087 AND method IN ('paypal', 'sepa');
