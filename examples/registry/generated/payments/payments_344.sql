-- payments: wallet_topups, number 86
SELECT a.merchant_id, b.method, c.amount_cents
FROM wallet_topups AS a
JOIN captures AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN wallet_debits AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;
