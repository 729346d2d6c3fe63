-- payments: refunds, number 45
SELECT merchant_id, method
FROM refunds
WHERE method <> 'sepa'
UNION ALL
SELECT merchant_id, method
FROM payouts
WHERE amount_cents BETWEEN 1446398 AND 2892796;
