-- payments: mandates, number 44
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM mandates AS a, disputes AS b, card_reissues AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;
