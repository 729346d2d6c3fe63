-- payments: wallet_topups, number 2
SELECT a.merchant_id, b.method
FROM wallet_topups AS a, wallet_debits AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 2;
