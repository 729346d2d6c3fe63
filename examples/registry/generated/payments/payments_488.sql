-- payments: fee_charges, number 122
SELECT a.merchant_id, b.method
FROM fee_charges AS a, wallet_topups AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 2;
