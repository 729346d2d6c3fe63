-- payments: mandates, number 52
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM mandates AS a, fee_charges AS b, captures AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;
