-- payments: settlements, number 38
SELECT a.merchant_id, b.method, c.amount_cents
FROM settlements AS a
JOIN mandates AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN reversals AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
