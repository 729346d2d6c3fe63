-- payments: settlements, number 154
SELECT a.merchant_id, b.method
FROM settlements AS a, reversals AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 3;
