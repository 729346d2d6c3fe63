-- payments: payouts, number 198
SELECT a.merchant_id, b.method, c.amount_cents
FROM payouts AS a
JOIN settlements AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN reversals AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
