-- payments: settlements, number 114
SELECT a.merchant_id, b.method
FROM settlements AS a, captures AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 1;
