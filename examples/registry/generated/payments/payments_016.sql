-- payments: reversals, number 4
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM reversals AS a, authorizations AS b, wallet_topups AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;
