-- payments: disputes, number 37
SELECT merchant_id, method
FROM disputes
WHERE method <> 'card'
UNION ALL
SELECT merchant_id, method
FROM mandates
WHERE amount_cents BETWEEN 924826 AND 1849652;
