-- payments: mandates, number 90
SELECT a.merchant_id, b.method
FROM mandates AS a, card_reissues AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 2;
