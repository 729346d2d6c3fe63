-- payments: wallet_topups, number 14
SELECT a.merchant_id, b.method, c.amount_cents
FROM wallet_topups AS a
JOIN card_reissues AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 300 AND a.ts
JOIN captures AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 300 AND a.ts;
