-- payments: mandates, number 61
SELECT merchant_id, method
FROM mandates
WHERE method <> 'card'
UNION ALL
SELECT merchant_id, method
FROM chargebacks
WHERE amount_cents BETWEEN 746489 AND 1492978;
