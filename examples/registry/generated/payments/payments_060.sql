-- payments: wallet_debits, number 15
SELECT DISTINCT b.method, b.priority
FROM wallet_debits AS a
JOIN payouts AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
