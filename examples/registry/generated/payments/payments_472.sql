-- payments: refunds, number 118
SELECT a.merchant_id, b.method, c.amount_cents
FROM refunds AS a
JOIN wallet_debits AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 60 AND a.ts
JOIN fee_charges AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 60 AND a.ts;
