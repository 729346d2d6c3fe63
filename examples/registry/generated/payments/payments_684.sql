-- payments: fraud_scores, number 171
SELECT merchant_id, amount_cents, note
FROM fraud_scores
WHERE amount_cents >= 2306111 AND method IN ('paypal', 'card');
