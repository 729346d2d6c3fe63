-- payments: payouts, number 174
SELECT a.merchant_id, b.method, c.amount_cents
FROM payouts AS a
JOIN mandates AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 60 AND a.ts
JOIN fraud_scores AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 60 AND a.ts;
