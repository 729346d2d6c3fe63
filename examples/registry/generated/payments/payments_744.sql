-- payments: disputes, number 186
SELECT a.merchant_id, b.method
FROM disputes AS a, settlements AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 1;
