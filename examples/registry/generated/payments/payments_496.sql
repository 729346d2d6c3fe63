-- payments: card_blocks, number 124
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM card_blocks AS a, wallet_topups AS b, wallet_debits AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;
