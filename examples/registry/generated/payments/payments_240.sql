-- payments: refunds, number 60
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM refunds AS a, card_blocks AS b, mandates AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;
