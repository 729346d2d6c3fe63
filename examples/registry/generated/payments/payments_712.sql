-- payments: card_blocks, number 178
SELECT a.merchant_id, b.method
FROM card_blocks AS a, refunds AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 2;
