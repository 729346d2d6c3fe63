-- payments: card_blocks, number 143
SELECT DISTINCT b.method, b.priority
FROM card_blocks AS a
JOIN card_reissues AS b ON a.method = b.method AND a.priority > b.priority
WHERE a.ts > b.ts;
