-- payments: captures, number 113
SELECT DISTINCT k.merchant_id, b.priority
FROM captures AS a
JOIN fraud_scores AS b ON a.merchant_id = b.merchant_id
JOIN vip_merchants AS k ON k.merchant_id = a.merchant_id
WHERE a.ts > b.ts AND b.amount_cents >= 1595884;
