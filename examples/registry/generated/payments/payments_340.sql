-- payments: chargebacks, number 85
SELECT merchant_id, method
FROM chargebacks
WHERE method <> 'sepa'
UNION ALL
SELECT merchant_id, method
FROM authorizations
WHERE amount_cents BETWEEN 2406926 AND 4813852;
