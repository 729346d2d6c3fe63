-- payments: card_blocks, number 169
SELECT DISTINCT k.merchant_id, b.priority
FROM card_blocks AS a
JOIN fee_charges AS b ON a.merchant_id = b.merchant_id
JOIN vip_merchants AS k ON k.merchant_id = a.merchant_id
WHERE a.ts > b.ts AND b.amount_cents >= 1003237;
