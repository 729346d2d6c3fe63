-- payments: fee_charges, number 181
SELECT merchant_id, method
FROM fee_charges
WHERE method <> 'sepa'
UNION ALL
SELECT merchant_id, method
FROM card_blocks
WHERE amount_cents BETWEEN 1474455 AND 2948910;
