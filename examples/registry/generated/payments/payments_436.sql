-- payments: reversals, number 109
SELECT merchant_id, method
FROM reversals
WHERE method <> 'giro'
UNION ALL
SELECT merchant_id, method
FROM captures
WHERE amount_cents BETWEEN 1021169 AND 2042338;
