-- payments: fee_charges, number 34
SELECT a.merchant_id, b.method
FROM fee_charges AS a, reversals AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 1;
