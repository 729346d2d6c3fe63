-- payments: wallet_debits, number 108
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM wallet_debits AS a, refunds AS b, payouts AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;
