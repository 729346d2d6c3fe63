-- payments: wallet_topups, number 36
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM wallet_topups AS a, fraud_scores AS b, payouts AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;
