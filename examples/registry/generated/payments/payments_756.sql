-- payments: wallet_topups, number 189
SELECT merchant_id, method
FROM wallet_topups
WHERE method <> 'paypal'
UNION ALL
SELECT merchant_id, method
FROM settlements
WHERE amount_cents BETWEEN 1200161 AND 2400322;
