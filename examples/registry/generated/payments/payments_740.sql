-- payments: payouts, number 185
SELECT DISTINCT k.merchant_id, b.priority
FROM payouts AS a
JOIN disputes AS b ON a.merchant_id = b.merchant_id
JOIN vip_merchants AS k ON k.merchant_id = a.merchant_id
WHERE a.ts > b.ts AND b.amount_cents >= 2245170;
