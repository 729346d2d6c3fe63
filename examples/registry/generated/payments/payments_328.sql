-- payments: refunds, number 82
SELECT a.merchant_id, b.method
FROM refunds AS a, chargebacks AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 2;
