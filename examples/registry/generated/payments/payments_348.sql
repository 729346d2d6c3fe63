-- payments: wallet_topups, number 87
SELECT DISTINCT b.method, b.priority
FROM wallet_topups AS a
JOIN wallet_debits AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
