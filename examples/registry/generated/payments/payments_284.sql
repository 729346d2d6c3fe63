-- payments: payouts, number 71
SELECT DISTINCT b.method, b.priority
FROM payouts AS a
JOIN wallet_debits AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
