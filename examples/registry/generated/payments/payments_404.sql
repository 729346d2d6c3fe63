-- payments: captures, number 101
SELECT merchant_id, method
FROM captures
WHERE method <> 'card'
UNION ALL
SELECT merchant_id, method
FROM reversals
WHERE amount_cents BETWEEN 2385819 AND 4771638;
