-- payments: payouts, number 126
SELECT a.merchant_id, b.method, c.amount_cents
FROM payouts AS a
JOIN authorizations AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN card_reissues AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
