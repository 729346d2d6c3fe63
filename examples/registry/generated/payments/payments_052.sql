-- payments: settlements, number 13
SELECT merchant_id, method
FROM settlements
WHERE method <> 'card'
UNION ALL
SELECT merchant_id, method
FROM authorizations
WHERE amount_cents BETWEEN 1084702 AND 2169404;
