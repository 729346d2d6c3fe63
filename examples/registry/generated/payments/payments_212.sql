-- payments: chargebacks, number 53
SELECT merchant_id, method
FROM chargebacks
WHERE method <> 'paypal'
UNION ALL
SELECT merchant_id, method
FROM mandates
WHERE amount_cents BETWEEN 2014874 AND 4029748;
