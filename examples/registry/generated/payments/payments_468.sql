-- payments: payouts, number 117
SELECT merchant_id, method
FROM payouts
WHERE method <> 'sepa'
UNION ALL
SELECT merchant_id, method
FROM disputes
WHERE amount_cents BETWEEN 937764 AND 1875528;
