-- payments: fee_charges, number 196
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM fee_charges AS a, settlements AS b, payouts AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;
