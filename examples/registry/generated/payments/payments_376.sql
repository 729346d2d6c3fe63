-- payments: authorizations, number 94
SELECT a.merchant_id, b.method, c.amount_cents
FROM authorizations AS a
JOIN captures AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 300 AND a.ts
JOIN fraud_scores AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 300 AND a.ts;
