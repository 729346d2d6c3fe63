-- payments: authorizations, number 190
SELECT a.merchant_id, b.method, c.amount_cents
FROM authorizations AS a
JOIN chargebacks AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 300 AND a.ts
JOIN wallet_topups AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 300 AND a.ts;
