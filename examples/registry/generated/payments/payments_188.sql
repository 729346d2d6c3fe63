-- payments: card_reissues, number 47
SELECT DISTINCT b.method, b.priority
FROM card_reissues AS a
JOIN disputes AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
