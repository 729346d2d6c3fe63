-- payments: mandates, number 125
SELECT merchant_id, method
FROM mandates
WHERE method <> 'paypal'
UNION ALL
SELECT merchant_id, method
FROM card_blocks
WHERE amount_cents BETWEEN 2376031 AND 4752062;
