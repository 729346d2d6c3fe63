-- payments: authorizations, number 95
SELECT DISTINCT b.method, b.priority
FROM authorizations AS a
JOIN chargebacks AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
