-- payments: refunds, number 146
SELECT a.merchant_id, b.method
FROM refunds AS a, payouts AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 1;
