-- payments: captures, number 106
SELECT a.merchant_id, b.method
FROM captures AS a, authorizations AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 2;
