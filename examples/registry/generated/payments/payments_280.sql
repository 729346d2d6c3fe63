-- payments: captures, number 70
SELECT a.merchant_id, b.method, c.amount_cents
FROM captures AS a
JOIN settlements AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 60 AND a.ts
JOIN card_reissues AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 60 AND a.ts;
