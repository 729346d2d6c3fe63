-- payments: fee_charges, number 158
SELECT a.merchant_id, b.method, c.amount_cents
FROM fee_charges AS a
JOIN payouts AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 300 AND a.ts
JOIN card_blocks AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 300 AND a.ts;
