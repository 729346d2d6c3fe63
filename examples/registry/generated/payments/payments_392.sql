-- payments: wallet_debits, number 98
SELECT a.merchant_id, b.method
FROM wallet_debits AS a, mandates AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 2;
