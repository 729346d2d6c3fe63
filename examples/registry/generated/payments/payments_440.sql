-- payments: disputes, number 110
SELECT a.merchant_id, b.method, c.amount_cents
FROM disputes AS a
JOIN fraud_scores AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN captures AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
