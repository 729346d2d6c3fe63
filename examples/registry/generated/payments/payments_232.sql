-- payments: mandates, number 58
SELECT a.merchant_id, b.method
FROM mandates AS a, settlements AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 2;
