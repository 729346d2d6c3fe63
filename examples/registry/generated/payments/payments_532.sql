-- payments: captures, number 133
SELECT merchant_id, method
FROM captures
WHERE method <> 'giro'
UNION ALL
SELECT merchant_id, method
FROM settlements
WHERE amount_cents BETWEEN 2101177 AND 4202354;
