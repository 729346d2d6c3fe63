-- payments: card_reissues, number 77
SELECT merchant_id, method
FROM card_reissues
WHERE method <> 'card'
UNION ALL
SELECT merchant_id, method
FROM fee_charges
WHERE amount_cents BETWEEN 1289067 AND 2578134;
