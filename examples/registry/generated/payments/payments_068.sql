-- payments: settlements, number 17
SELECT DISTINCT k.merchant_id, b.priority
FROM settlements AS a
JOIN card_reissues AS b ON a.merchant_id = b.merchant_id
JOIN vip_merchants AS k ON k.merchant_id = a.merchant_id
WHERE a.ts > b.ts AND b.amount_cents >= 1934155;
