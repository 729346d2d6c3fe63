-- payments: settlements, number 132
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM settlements AS a, wallet_topups AS b, mandates AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;
