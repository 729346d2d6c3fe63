-- payments: payouts, number 21
SELECT merchant_id, method
FROM payouts
WHERE method <> 'paypal'
UNION ALL
SELECT merchant_id, method
FROM card_reissues
WHERE amount_cents BETWEEN 2473406 AND 4946812;
