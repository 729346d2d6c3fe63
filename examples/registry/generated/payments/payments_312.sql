-- payments: settlements, number 78
SELECT a.merchant_id, b.method, c.amount_cents
FROM settlements AS a
JOIN card_blocks AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN mandates AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
