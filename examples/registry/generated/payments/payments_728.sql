-- payments: chargebacks, number 182
SELECT a.merchant_id, b.method, c.amount_cents
FROM chargebacks AS a
JOIN refunds AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN payouts AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;
