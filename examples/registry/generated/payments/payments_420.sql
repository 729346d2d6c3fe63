-- payments: card_blocks, number 105
SELECT DISTINCT k.merchant_id, b.priority
FROM card_blocks AS a
JOIN fraud_scores AS b ON a.merchant_id = b.merchant_id
JOIN vip_merchants AS k ON k.merchant_id = a.merchant_id
WHERE a.ts > b.ts AND b.amount_cents >= 2303238;
