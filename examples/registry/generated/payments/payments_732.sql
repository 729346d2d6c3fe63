-- payments: refunds, number 183
SELECT DISTINCT b.method, b.priority
FROM refunds AS a
JOIN wallet_debits AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
