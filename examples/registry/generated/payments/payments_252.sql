-- payments: authorizations, number 63
SELECT DISTINCT b.method, b.priority
FROM authorizations AS a
JOIN fee_charges AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
