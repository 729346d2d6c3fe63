-- payments: reversals, number 159
SELECT DISTINCT b.method, b.priority
FROM reversals AS a
JOIN disputes AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
