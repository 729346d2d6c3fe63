-- payments: authorizations, number 197
SELECT merchant_id, method
FROM authorizations
WHERE method <> 'giro'
UNION ALL
SELECT merchant_id, method
FROM captures
WHERE amount_cents BETWEEN 597104 AND 1194208;
