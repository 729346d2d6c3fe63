-- payments: disputes, number 165
SELECT merchant_id, method
FROM disputes
WHERE method <> 'card'
UNION ALL
SELECT merchant_id, method
FROM payouts
WHERE amount_cents BETWEEN 619829 AND 1239658;
