-- payments: payouts, number 18
SELECT a.merchant_id, b.method
FROM payouts AS a, refunds AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 1;
