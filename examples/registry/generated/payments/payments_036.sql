-- payments: disputes, number 9
SELECT DISTINCT k.merchant_id, b.priority
FROM disputes AS a
JOIN reversals AS b ON a.merchant_id = b.merchant_id
JOIN vip_merchants AS k ON k.merchant_id = a.merchant_id
WHERE a.ts > b.ts AND b.amount_cents >= 2264031;
