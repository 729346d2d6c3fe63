-- payments: fraud_scores, number 141
SELECT merchant_id, method
FROM fraud_scores
WHERE method <> 'paypal'
UNION ALL
SELECT merchant_id, method
FROM refunds
WHERE amount_cents BETWEEN 2238491 AND 4476982;
