-- payments: disputes, number 7
SELECT DISTINCT b.method, b.priority
FROM disputes AS a
JOIN captures AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
