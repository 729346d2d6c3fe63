-- payments: wallet_debits, number 166
SELECT a.merchant_id, b.method, c.amount_cents
FROM wallet_debits AS a
JOIN payouts AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 600 AND a.ts
JOIN disputes AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 600 AND a.ts;
