-- payments: card_blocks, number 20
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM card_blocks AS a, authorizations AS b, refunds AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;
