-- payments: refunds, number 156
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM refunds AS a, wallet_debits AS b, fee_charges AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;
