-- payments: refunds, number 93
SELECT merchant_id, method
FROM refunds
WHERE method <> 'card'
UNION ALL
SELECT merchant_id, method
FROM authorizations
WHERE amount_cents BETWEEN 1071287 AND 2142574;
