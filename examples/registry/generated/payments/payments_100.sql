-- payments: settlements, number 25
SELECT DISTINCT k.merchant_id, b.priority
FROM settlements AS a
JOIN captures AS b ON a.merchant_id = b.merchant_id
JOIN vip_merchants AS k ON k.merchant_id = a.merchant_id
WHERE a.ts > b.ts AND b.amount_cents >= 2269887;
