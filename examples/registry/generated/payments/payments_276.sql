-- payments: captures, number 69
SELECT merchant_id, method
FROM captures
WHERE method <> 'sepa'
UNION ALL
SELECT merchant_id, method
FROM refunds
WHERE amount_cents BETWEEN 1176737 AND 2353474;
