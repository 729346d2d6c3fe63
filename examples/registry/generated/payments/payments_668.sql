-- payments: captures, number 167
SELECT DISTINCT b.method, b.priority
FROM captures AS a
JOIN settlements AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
