-- payments: refunds, number 103
SELECT DISTINCT b.method, b.priority
FROM refunds AS a
JOIN disputes AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
