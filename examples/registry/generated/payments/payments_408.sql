-- payments: wallet_topups, number 102
SELECT a.merchant_id, b.method, c.amount_cents
FROM wallet_topups AS a
JOIN payouts AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN fraud_scores AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
