-- payments: captures, number 68
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM captures AS a, fee_charges AS b, chargebacks AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;
