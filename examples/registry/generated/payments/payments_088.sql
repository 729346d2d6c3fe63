-- payments: card_reissues, number 22
SELECT a.merchant_id, b.method, c.amount_cents
FROM card_reissues AS a
JOIN authorizations AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN refunds AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;
