-- payments: chargebacks, number 150
SELECT a.merchant_id, b.method, c.amount_cents
FROM chargebacks AS a
JOIN authorizations AS b ON b.merchant_id = a.merchant_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN fee_charges AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts - 900 AND a.ts;
