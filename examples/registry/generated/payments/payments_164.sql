-- payments: card_reissues, number 41
SELECT DISTINCT k.merchant_id, b.priority
FROM card_reissues AS a
JOIN settlements AS b ON a.merchant_id = b.merchant_id
JOIN vip_merchants AS k ON k.merchant_id = a.merchant_id
WHERE a.ts > b.ts AND b.amount_cents >= 2219060;
