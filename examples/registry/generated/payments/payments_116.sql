-- payments: refunds, number 29
SELECT merchant_id, method
FROM refunds
WHERE method <> 'paypal'
UNION ALL
SELECT merchant_id, method
FROM captures
WHERE amount_cents BETWEEN 1158800 AND 2317600;
