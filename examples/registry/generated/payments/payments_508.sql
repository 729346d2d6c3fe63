-- payments: authorizations, number 127
SELECT DISTINCT b.method, b.priority
FROM authorizations AS a
JOIN wallet_topups AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
