-- payments: captures, number 157
SELECT merchant_id, method
FROM captures
WHERE method <> 'card'
UNION ALL
SELECT merchant_id, method
FROM wallet_topups
WHERE amount_cents BETWEEN 617020 AND 1234040;
