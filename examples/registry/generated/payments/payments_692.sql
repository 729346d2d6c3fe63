-- payments: mandates, number 173
SELECT merchant_id, method
FROM mandates
WHERE method <> 'sepa'
UNION ALL
SELECT merchant_id, method
FROM captures
WHERE amount_cents BETWEEN 2166401 AND 4332802;
