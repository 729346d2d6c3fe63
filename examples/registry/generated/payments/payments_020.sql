-- payments: disputes, number 5
SELECT merchant_id, method
FROM disputes
WHERE method <> 'sepa'
UNION ALL
SELECT merchant_id, method
FROM card_reissues
WHERE amount_cents BETWEEN 1573242 AND 3146484;
