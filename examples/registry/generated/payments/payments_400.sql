-- payments: card_blocks, number 100
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM card_blocks AS a, settlements AS b, fraud_scores AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;
