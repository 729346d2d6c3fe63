-- payments: settlements, number 6
SELECT a.merchant_id, b.method, c.amount_cents
FROM settlements AS a
JOIN refunds AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN payouts AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
